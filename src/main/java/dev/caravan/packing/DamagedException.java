package dev.caravan.packing;

import dev.caravan.CaravanException;

/** A compressed source cannot be unpacked to its end. */
public final class DamagedException extends CaravanException {
    private final String source;

    /**
     * @param packedOffset first byte of the source at or behind which the damage lies
     * @param unpackedBytes of text that were read and given on before it
     */
    DamagedException(String source, long packedOffset, long unpackedBytes, String what) {
        super(source + " cannot be unpacked: " + what + " at compressed byte " + packedOffset + ", behind "
                + unpackedBytes + " bytes of text. Copy the file again, or compress it anew");
        this.source = source;
    }

    public String source() {
        return source;
    }
}
