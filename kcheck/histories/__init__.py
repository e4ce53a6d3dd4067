"""Histories of one partition that kcheck ships, as `kcheck simulate list` names them: text files, no modules."""
