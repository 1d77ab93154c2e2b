/** The mount table of /proc/self/mountinfo. */

export interface Mount {
  readonly id: string;
  readonly parent: string;
  readonly point: string;
  /** Options of this mount, such as `rw,nosuid,relatime`; not those of the file system. */
  readonly options: string;
}

/** The mounts that a path can reach: those that another mount covers are left out. */
export function parseMounts(mountinfo: string): readonly Mount[] {
  const mounts = mountinfo.split('\n').filter(Boolean).map(parseLine);
  const byId = new Map(mounts.map((mount) => [mount.id, mount]));
  const isReachable = (mount: Mount, along: Mount): boolean => {
    if (mounts.some((other) => other !== along && covers(other, mount))) return false;
    const parent = byId.get(mount.parent);
    return parent === undefined || isReachable(parent, mount);
  };
  return mounts.filter((mount) => isReachable(mount, mount));
}

/** The same options, but read-only; the others are repeated, because the kernel refuses to drop some of them. */
export function readOnlyOptions({ options }: Mount): string {
  return options.replace(/^rw\b/, 'ro');
}

function parseLine(line: string): Mount {
  const [id = '', parent = '', , , point = '', options = ''] = line.split(' ');
  return { id, parent, point: unescape(point), options };
}

/** The kernel writes blanks and backslashes of a path as three octal digits. */
function unescape(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** `other` lies on top of `mount`, or beside it on a folder above it. */
function covers(other: Mount, mount: Mount): boolean {
  if (other.parent === mount.id) return other.point === mount.point;
  return other.parent === mount.parent && other.point !== mount.point && mount.point.startsWith(`${other.point}/`);
}
