package dev.caravan.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MountTest {
    private static final String TABLE = """
            /dev/sda1 / ext4 rw,relatime 0 0
            nas:/export /mnt nfs4 rw,vers=4.2,acregmax=30 0 0
            nas:/export\\040two /mnt/with\\040space nfs4 ro,hard 0 0
            tmpfs /mnt/over tmpfs rw 0 0
            nas:/third /mnt/over nfs4 rw 0 0
            """;

    private static Mount of(String path) {
        return Mount.among(TABLE, Path.of(path));
    }

    @Test
    void the_deepest_mount_above_a_path_counts() {
        assertThat(of("/home/x")).isEqualTo(new Mount("/", "ext4", "/dev/sda1", List.of("rw", "relatime")));
        assertThat(of("/mnt/a/b").point()).isEqualTo("/mnt");
        assertThat(of("/mnt").point()).isEqualTo("/mnt");
        assertThat(of("/mntx").point()).isEqualTo("/");
    }

    @Test
    void of_two_on_one_point_the_later_counts() {
        assertThat(of("/mnt/over/x").source()).isEqualTo("nas:/third");
    }

    @Test
    void octal_escapes_are_read() {
        Mount mount = of("/mnt/with space/x");

        assertThat(mount).hasToString("/mnt/with space (nfs4 from nas:/export two)");
        assertThat(mount.isReadOnly()).isTrue();
        assertThat(mount.isLocal()).isFalse();
        assertThat(of("/x").isLocal()).isTrue();
    }

    @Test
    void a_real_directory_is_on_a_mount_of_this_machine(@TempDir Path folder) throws IOException {
        Mount mount = Mount.of(folder);

        assertThat(mount.type()).isNotEqualTo("unknown");
        assertThat(folder.toRealPath().toString()).startsWith(mount.point());
    }
}
