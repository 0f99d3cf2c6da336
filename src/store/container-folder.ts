/** Whether a folder keeps its files: the file system of a container is discarded with the container. */

/** Those that hold what a container writes over its image. */
const IMAGE_FILE_SYSTEMS = new Set(["overlay", "fuse-overlayfs", "aufs"]);
const MEMORY_FILE_SYSTEMS = new Set(["tmpfs", "ramfs"]);

interface Mount {
  /** The folder of the file system that is mounted. */
  readonly root: string;
  readonly point: string;
  readonly type: string;
}

/** proc_pid_mountinfo(5): fields with white space in octal, and the type after a lone hyphen. */
function mountsIn(mountinfo: string): Mount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [, root, point, type] = /^\d+ \d+ \S+ (\S+) (\S+) .*? - (\S+)/.exec(line) ?? [];
    if (root === undefined || point === undefined || type === undefined) return [];
    return [{ root: spelled(root), point: spelled(point), type }];
  });
}

const spelled = (field: string): string =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

/**
 * Why the files of a folder will be lost, in words; undefined if they are kept, or nothing is known. `mountinfo` is the text of
 * /proc/self/mountinfo. Memory counts in a container alone: elsewhere it is where people put what they mean to lose.
 */
export function forgettingPlace(mountinfo: string, folder: string): string | undefined {
  const mounts = mountsIn(mountinfo);
  // Of two mounts at one point, the later one hides the other.
  const mountOf = (path: string): Mount | undefined =>
    mounts
      .filter(({ point }) => isBelow(path, point))
      .reduce<Mount | undefined>(
        (best, one) => (best !== undefined && best.point.length > one.point.length ? best : one),
        undefined,
      );
  const mount = mountOf(folder);
  if (mount === undefined) return undefined;
  if (IMAGE_FILE_SYSTEMS.has(mount.type))
    return "in the file system of this container, which a restart discards";
  if (mount.root.includes("kubernetes.io~empty-dir"))
    return "in an emptyDir volume, which is deleted with its pod";
  const isContainer = IMAGE_FILE_SYSTEMS.has(mountOf("/")?.type ?? "");
  return isContainer && MEMORY_FILE_SYSTEMS.has(mount.type)
    ? "in memory, which a restart discards"
    : undefined;
}
