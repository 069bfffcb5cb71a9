/** What a node is: who it is, which jobs it sees, and how routes, beans and settings become one running Camel. */
@NullMarked
package dev.caravan.node;

import org.jspecify.annotations.NullMarked;
