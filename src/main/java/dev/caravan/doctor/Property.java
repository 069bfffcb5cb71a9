package dev.caravan.doctor;

import com.fasterxml.jackson.annotation.JsonValue;

/** What is measured of a mount, in the order shown, and why it matters. */
public enum Property {
    MOUNT("mount", "says what else is to be expected"),
    SPACE("free space", "without it no claim, beat or result can be written"),
    INODES("free inodes", "each fact is a file of its own"),
    FSYNC("fsync", "a fact counts only once it is on the disk"),
    LINK("exclusive link", "a claim is a link: a second node must be told that the name is taken"),
    LINK_COUNT("link count", "tells whether a link whose answer was lost was made"),
    CREATE("exclusive create", "takes the place of links where a mount has none"),
    LINK_RACE("race of links", "two winners of one claim would do the same shard at once"),
    CREATE_RACE("race of creates", "takes the place of links where a mount has none"),
    RENAME("atomic rename", "readers must see the old fact or the new one, never none or half"),
    NEW_NAME("new name is seen", "late names cost time, not safety; the lease allows for it"),
    REMOVED_NAME("removed name is gone", "claims are never removed, so this costs nothing; for information"),
    NEW_CONTENT("new content is seen", "the end of a claim is new content"),
    BEAT("new time is seen", "a beat is a new file time; the lease must be well above this"),
    GROWTH("growth is seen", "for information: nothing rests on it"),
    TIME_STEP("time granularity", "two beats must differ"),
    CLOCK("clock offset", "for information: no decision compares clocks"),
    FCNTL("fcntl locks", "Caravan uses none; caches that attempts share may"),
    FLOCK("flock locks", "Caravan uses none; caches that attempts share may");

    private final String text;
    private final String why;

    Property(String text, String why) {
        this.text = text;
        this.why = why;
    }

    public String why() {
        return why;
    }

    @JsonValue
    @Override
    public String toString() {
        return text;
    }
}
