package dev.caravan.jsonl;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256, which every Java must have. */
public final class Sha256 {
    private Sha256() {}

    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no SHA-256", e);
        }
    }

    public static String hex(byte[] content) {
        return hex(content, 0, content.length);
    }

    /** Of the bytes from {@code from} up to, not including, {@code to}. */
    public static String hex(byte[] buffer, int from, int to) {
        MessageDigest digest = digest();
        digest.update(buffer, from, to - from);
        return HexFormat.of().formatHex(digest.digest());
    }
}
