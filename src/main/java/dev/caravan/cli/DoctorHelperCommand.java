package dev.caravan.cli;

import dev.caravan.doctor.Helper;
import dev.caravan.store.Probe;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

@Command(name = "doctor-helper", hidden = true, description = "A second process for the doctor; not for people.")
final class DoctorHelperCommand implements Callable<Integer> {
    @Override
    public Integer call() throws IOException {
        new Helper(new Probe(), System::nanoTime).serve(System.in, System.out);
        return CaravanCommand.DONE;
    }
}
