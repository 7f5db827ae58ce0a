-- Emergency only: undoes 0051_pre_sweep_marks. Sweeps begin anew at the present.
DROP TABLE IF EXISTS kernel.sweep_marks;
