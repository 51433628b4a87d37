// The command that jobs run inside, such as a container: `apptainer exec --nv image.sif`. It gets a shell and the job's command as
// its last arguments.

/** Its words; none: jobs run on the machine itself. */
export type Wrap = readonly string[];

interface WithWrap {
  readonly wrap?: Wrap;
}

/** A job takes precedence over its batch, and the batch over the machine file. */
export function wrapOfJob(job: WithWrap, batch: WithWrap, machine: WithWrap): Wrap {
  return job.wrap ?? batch.wrap ?? machine.wrap ?? [];
}

/** No command line has more words. */
const MOST_WORDS = 1000;

export function isWrap(value: unknown): value is Wrap {
  return (
    Array.isArray(value) &&
    value.length <= MOST_WORDS &&
    value[0] !== "" &&
    value.every((word) => typeof word === "string" && !word.includes("\0"))
  );
}
