package dev.caravan.python;

/**
 * What is installed.
 *
 * @param python its version
 * @param codeVersion Data-Juicer's code: its version, and the commit if it is a git checkout
 */
public record PythonInfo(String executable, String python, String dataJuicer, String ray, String codeVersion) {}
