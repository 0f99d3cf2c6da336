// Stands in for when-exit in the bundle: atomically uses it to tidy temporary files, and it ends the process at the
// first SIGINT or SIGTERM, before what is in hand is finished. Signals are the composition root's alone.
export default function whenExit() {}
