// Stands in for chalk's detection of colours in the bundle, which loads Node's terminals: the level is given to it.
export default { stdout: false, stderr: false };
