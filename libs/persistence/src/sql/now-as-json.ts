/** The time of the transaction as it stands in our own metadata: RFC 3339, UTC, milliseconds (K19). */
export const NOW_AS_JSON = `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
