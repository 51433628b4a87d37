// Adds jobs one by one for ever, and prints the id of each after its commit. A test kills it.

import { writeSync } from "node:fs";
import { openDatabase } from "../../../src/service/store/open-database.js";
import { aNewJob, aQueue } from "./new-job.js";

const { queues, jobs, secrets, transactions } = await openDatabase(process.argv[2] ?? "");
if (queues.find("default") === null) await transactions.write(() => queues.add(aQueue(), null, Date.now()));
for (;;) {
  const environment = secrets.keep({ AT: process.hrtime.bigint().toString() }, Date.now());
  const id = await transactions.write(() => {
    const first = queues.takeIds("default", 1);
    jobs.add("default", [aNewJob(first, { environment })]);
    return first;
  });
  writeSync(1, `${id}\n`);
}
