// `sshoal queue`: creates, lists, pauses, resumes and deletes queues, and changes their machines.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { QueueInfo } from "../../../api/queue-service.js";
import { ExitCode } from "../../../errors.js";
import { jsonLine } from "../../../report/lines/json-lines.js";
import { queueList } from "../../../report/tables/queue-table.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import type { QueueOptions } from "../../options/queue/queue-options.js";
import { note } from "../../terminal/note.js";
import { loadQueues, unknownQueue } from "./queued-jobs.js";
import { needService } from "./service-here.js";

export async function manageQueues(options: QueueOptions): Promise<ExitCode> {
  const client = await needService(options.server);
  const { isJson } = options;
  switch (options.action) {
    case "create": {
      for (const each of options.notes) note(each);
      const { cwd, machines } = options.spec;
      const spec = {
        ...options.spec,
        cwd: cwd && (await directoryOf(client, cwd)),
        machines: machines.map((machine) => seenFromAnywhere(machine, client)),
      };
      print([await client.post<QueueInfo>("/v1/queues", { spec, env: options.env })], isJson);
      return ExitCode.Success;
    }
    case "list":
      print(await loadQueues(client), isJson);
      return ExitCode.Success;
    case "pause":
    case "resume": {
      const { action, name } = options;
      if (name === null) await client.post(`/v1/${action}`);
      else await client.post(`/v1/queues/${await known(client, name)}/${action}`);
      print(await changed(client, name), isJson);
      return ExitCode.Success;
    }
    case "delete": {
      const name = await known(client, options.name);
      await client.delete(`/v1/queues/${name}${options.stops ? "?stop=1" : ""}`);
      process.stdout.write(
        `${isJson ? jsonLine({ kind: "queue-deleted", queue: name }) : `deleted: ${name}`}\n`,
      );
      return ExitCode.Success;
    }
    case "add-machine":
    case "remove-machine": {
      const name = await known(client, options.name);
      const verb = options.action === "add-machine" ? "add" : "remove";
      for (const word of options.machines) {
        const machine = seenFromAnywhere(word, client);
        await client.post("/v1/machines", { verb, queue: name, machine });
        const kind = verb === "add" ? "machine-added" : "machine-removed";
        const text = `${verb === "add" ? "added" : "removed"}: ${machine}; queue ${name}`;
        process.stdout.write(`${isJson ? jsonLine({ kind, queue: name, machine }) : text}\n`);
      }
      return ExitCode.Success;
    }
    default:
      return options satisfies never;
  }
}

async function directoryOf(client: ServiceClient, typed: string): Promise<string> {
  if (client.door.isHere) return resolve(typed);
  const { directoryThere } = await import("./place-elsewhere.js");
  return directoryThere(client, typed);
}

/** The service has another working directory: the path of a machine file is made absolute. */
function seenFromAnywhere(machine: string, { door }: ServiceClient): string {
  if (!door.isHere) return machine;
  const isPath = machine.includes("/") || /\.ya?ml$/.test(machine);
  return isPath && existsSync(machine) ? resolve(machine) : machine;
}

async function known(client: ServiceClient, name: string): Promise<string> {
  const names = (await loadQueues(client)).map((each) => each.name);
  if (names.includes(name)) return name;
  throw unknownQueue(name, names);
}

async function changed(client: ServiceClient, name: string | null): Promise<readonly QueueInfo[]> {
  return (await loadQueues(client)).filter((each) => name === null || each.name === name);
}

function print(queues: readonly QueueInfo[], isJson: boolean): void {
  const lines = isJson
    ? queues.map((each) => jsonLine({ kind: "queue", queue: each.name, ...each }))
    : queueList(queues);
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}
