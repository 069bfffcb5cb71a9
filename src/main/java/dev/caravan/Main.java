package dev.caravan;

import dev.caravan.cli.CaravanCommand;

/** The program's entry: hands its arguments to the command line and exits with its code. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        System.exit(CaravanCommand.run(args));
    }
}
