#!/usr/bin/env node
import { main } from "../main.js";

await main("simple_gpu_scheduler");
