// The text that --help adds to the list of options.

export const EXAMPLES = `
Examples:
  execute_batch jobs.sh --no-gpu-required              on this machine
  execute_batch - --gpus 0,1,2 < commands.txt          on these cards of it
  execute_batch jobs.sh --machines gpu1 ada@gpu2:2222  on two others
  execute_batch jobs.sh --machines a.yaml --dry-run    what would run where

Signals: INT (Ctrl-C) no new jobs, twice stops running ones; USR1 pauses,
USR2 resumes; TERM and HUP leave, and jobs go on.

Exit codes: 0 all jobs succeeded, 1 a job failed, 2 bad usage or input,
3 no usable machine, 70 a bug in sshoal, 130 interrupted.
`;
