#!/usr/bin/env node
import { start } from "../start.js";

start("simple_gpu_scheduler");
