"""Workers: tasks in processes or threads, with limits on time and memory."""
