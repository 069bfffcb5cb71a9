package dev.caravan.intake;

import dev.caravan.jsonl.Flaw;

/** What normalising makes of a record. */
sealed interface Rewrite {
    Rewrite SAME = new Same();

    /** The record stays byte for byte. */
    record Same() implements Rewrite {}

    record Changed(byte[] record) implements Rewrite {}

    /** The record is JSON, but not what the recipe needs. */
    record Refused(Flaw flaw) implements Rewrite {}
}
