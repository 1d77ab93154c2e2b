/** The same properties on many more random turns. */
import './loop-property.spec.js';
