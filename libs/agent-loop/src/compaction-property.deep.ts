/** The same properties on many more random turns. */
import './compaction-property.spec.js';
