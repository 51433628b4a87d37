// The route by which a machine that cannot be reached gives the service a connection to its shell.

import { UserError } from "../../errors.js";
import type { Capacities } from "../../model/queue.js";
import { JOIN_PROTOCOL, type JoinAsk, type QueueService } from "../queue-service.js";
import { type Place, type Read, refuse } from "../readers/fields.js";
import { queueName } from "../readers/job-readers.js";
import type { Query } from "../readers/query-readers.js";
import { capacity } from "../readers/queue-readers.js";
import { Refusal } from "../refusal.js";
import { orStatus, type Route } from "../route.js";
import { refusedFor, withStatus } from "./known-queue.js";

const MOST_KEY_BYTES = 1024;

export const JOIN_ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/join",
    query: ["machine", "queues", "process", "key", "version", "capacity"],
    async answer({ service, query, read, upgrade }) {
      if (upgrade !== JOIN_PROTOCOL)
        throw new Refusal(426, "this path makes the connection a stream for the shell of a machine", {
          hint: "sshoal join, on that machine",
        });
      const asked = read((place) => readJoin(query, place));
      const door = await orStatus(
        () => service.join(asked),
        (error) => statusOf(service, asked, error),
      );
      const headers = { "sshoal-key": door.key.toString("base64") };
      return { protocol: JOIN_PROTOCOL, headers, take: (stream) => door.take(stream) };
    },
  },
];

function statusOf(service: QueueService, { queues }: JoinAsk, error: unknown): unknown {
  if (error instanceof Refusal) return error;
  const known = new Set(service.queues().map(({ name }) => name));
  const unknown = queues.find((name) => !known.has(name));
  if (unknown !== undefined) return refusedFor(service, unknown, 409)(error);
  return error instanceof UserError ? withStatus(error, 409) : error;
}

function readJoin(query: Query, place: Place): JoinAsk {
  const one = <T>(name: string, read: Read<T>): T => read(query.get(name) ?? "", { ...place, where: name });
  const text = query.get("capacity");
  return {
    name: one("machine", matching(/^[A-Za-z0-9][\w.-]{0,62}$/, "must be a name")),
    queues: one("queues", (raw, at) =>
      String(raw)
        .split(",")
        .map((each) => queueName(each, at)),
    ),
    process: one("process", matching(/^[\w-]{16,64}$/, "must be a random word")),
    hostKey: one("key", readKey),
    version: one("version", matching(/^\d+\.\d+\.\d+[\w.+-]{0,40}$/, "must be a version")),
    capacity: text === undefined ? null : readCapacity(text, { ...place, where: "capacity" }),
  };
}

function matching(pattern: RegExp, message: string): Read<string> {
  return (raw, place) => {
    if (!pattern.test(String(raw))) refuse(place, `${message}, got ${JSON.stringify(raw)}`);
    return String(raw);
  };
}

const readKey: Read<Buffer> = (raw, place) => {
  const key = Buffer.from(String(raw), "base64url");
  if (key.length < 16 || key.length > MOST_KEY_BYTES) refuse(place, "must be a public key of ssh, in base64");
  return key;
};

function readCapacity(text: string, place: Place): Capacities {
  try {
    return capacity(JSON.parse(text), place);
  } catch {
    refuse(place, "must be JSON");
    return {};
  }
}
