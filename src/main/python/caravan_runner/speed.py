"""What is changed in Ray Data and Data-Juicer for one shard: order kept, needless passes and waits removed."""


def prepare(local):
    """Before Data-Juicer reads its configuration."""
    from ray.data import DataContext

    context = DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    context.print_on_execution_start = False


def install(check):
    """Before the executor runs. check: called with the operators once they are built, before anything is scheduled."""
    from data_juicer.core.executor import ray_executor

    load_ops = ray_executor.load_ops

    def load_and_check(*args, **kwargs):
        operators = load_ops(*args, **kwargs)
        check(operators)
        return operators

    ray_executor.load_ops = load_and_check
