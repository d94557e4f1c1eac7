/** Set up for every test file. What it imports is loaded once a worker, which keeps the matchers for all its files. */
import "./reasons.ts";
