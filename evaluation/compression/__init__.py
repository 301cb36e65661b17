"""Whether condensing the sources may be adopted: by two runs that differ in nothing else."""
