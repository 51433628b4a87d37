// The commands of `grass`.

import type { Invocation } from "../../options/options.js";

export async function performGrass(
  invocation: Extract<Invocation, { command: `grass-${string}` }>,
): Promise<number> {
  switch (invocation.command) {
    case "grass-daemon": {
      const { grassDaemon } = await import("./grass-daemon.js");
      return grassDaemon(invocation.options);
    }
    case "grass-stop": {
      const { grassStop } = await import("./grass-daemon.js");
      return grassStop();
    }
    case "grass-create": {
      const { grassCreate } = await import("./grass-create.js");
      return grassCreate(invocation.options);
    }
    case "grass-delete": {
      const { grassDelete } = await import("./grass-create.js");
      return grassDelete(invocation.name);
    }
    case "grass-enqueue": {
      const { grassEnqueue } = await import("./grass-enqueue.js");
      return grassEnqueue(invocation.options);
    }
    case "grass-enqueue-open": {
      const { grassEnqueueOpen } = await import("./grass-enqueue.js");
      return grassEnqueueOpen(invocation);
    }
    case "grass-show": {
      const { grassShow } = await import("./grass-show.js");
      return grassShow(invocation.options);
    }
    default:
      return invocation satisfies never;
  }
}
