/** What a process did to a folder, told from its system calls: writes, names and syncs. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { bytesOf, openPath, type SystemCall } from '../processes/system-calls.ts'

/** Files are numbered: a name may come to stand for another one. */
export type FileNumber = number

/** Content of a folder by relative path; null for folders. */
export type Tree = ReadonlyMap<string, Uint8Array<ArrayBuffer> | null>

interface Moment {
  /** Its effect came at some moment from `begun` to `ended`. */
  readonly begun: number
  readonly ended: number
}

/** One change that a disk keeps or loses by itself. */
export type DiskOperation = Moment &
  (
    | {
        readonly kind: 'write'
        readonly file: FileNumber
        readonly position: number
        readonly bytes: Uint8Array<ArrayBuffer>
      }
    | { readonly kind: 'resize'; readonly file: FileNumber; readonly size: number }
    /** The path names that from now on, null for nothing; `former` names nothing any more. */
    | {
        readonly kind: 'name'
        readonly path: string
        readonly file: FileNumber | 'folder' | null
        readonly former: string | null
      }
  )

/** A sync of a file's content, or of the names in a folder. */
export type Sync = Moment & { readonly of: FileNumber | string }

export interface Recording {
  readonly before: Tree
  /** Numbers of the files that were there before, by path. */
  readonly files: ReadonlyMap<string, FileNumber>
  /** In the order in which they began. */
  readonly operations: readonly DiskOperation[]
  readonly syncs: readonly Sync[]
  /** What was sent to other processes. */
  readonly sent: readonly { readonly begun: number; readonly bytes: Uint8Array<ArrayBuffer> }[]
}

/** The calls to be traced. Those that change files otherwise than `recorded` knows are traced so that it can refuse them. */
export const RECORDED_CALLS = [
  ...['openat', 'write', 'pwrite64', 'fsync', 'fdatasync', 'rename', 'unlink', 'unlinkat', 'rmdir'],
  ...['ftruncate', 'mkdir', 'mkdirat', 'sendto'],
  ...['open', 'creat', 'writev', 'pwritev', 'pwritev2', 'renameat', 'renameat2', 'truncate', 'fallocate'],
  ...['link', 'linkat', 'symlink', 'symlinkat', 'copy_file_range', 'sendfile', 'splice', 'sync_file_range'],
  ...['mmap', 'io_uring_setup', 'sendmsg', 'openat2'],
]

export function treeOf(root: string): Tree {
  const tree = new Map<string, Uint8Array<ArrayBuffer> | null>()
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    tree.set(relative(root, path), entry.isDirectory() ? null : Uint8Array.from(readFileSync(path)))
  }
  return tree
}

/** Throws for calls that change the folder in a way that is not known here. */
export function recorded(root: string, before: Tree, calls: readonly SystemCall[]): Recording {
  const recorder = new Recorder(root, before)
  // A failed call has changed nothing.
  for (const call of calls.toSorted((a, b) => a.begun - b.begun))
    if ((call.result ?? 0) >= 0) recorder.take(call)
  return recorder
}

/** SQLite's index of its log: shared memory, rebuilt by the first connection after a crash. */
const isSharedMemory = (path: string) => path.endsWith('-shm')

class Recorder implements Recording {
  readonly before: Tree
  readonly files = new Map<string, FileNumber>()
  readonly operations: DiskOperation[] = []
  readonly syncs: Sync[] = []
  readonly sent: { readonly begun: number; readonly bytes: Uint8Array<ArrayBuffer> }[] = []
  readonly #root: string
  readonly #names = new Map<string, FileNumber | 'folder'>()
  /** Where the next `write` of a file goes. */
  readonly #ends = new Map<FileNumber, number>()
  #numbers = 0

  constructor(root: string, before: Tree) {
    this.#root = root
    this.before = before
    for (const [path, content] of before) {
      this.#names.set(path, content === null ? 'folder' : ++this.#numbers)
      if (content !== null) this.files.set(path, this.#numbers)
    }
  }

  take({ name, words, ...moment }: SystemCall): void {
    const at = (place: number) => this.#inside(pathOf(words[place]))
    const below = (place: number) =>
      this.#inside(resolve(openPath(words[place]) ?? '/', pathOf(words[place + 1])))
    const open = () => this.#inside(openPath(words[0]))
    const takes: Readonly<Record<string, () => void>> = {
      openat: () => this.#open(below(0), words[2] ?? '', moment),
      write: () => this.#append(open(), words[1], moment),
      pwrite64: () => this.#write(open(), words[1], Number(words[3]), moment),
      ftruncate: () => this.#resize(open(), Number(words[1]), moment),
      fsync: () => this.#sync(open(), moment),
      fdatasync: () => this.#sync(open(), moment),
      rename: () => this.#rename(at(0), at(1), moment),
      unlink: () => this.#name(at(0), null, moment),
      rmdir: () => this.#name(at(0), null, moment),
      unlinkat: () => this.#name(below(0), null, moment),
      mkdir: () => this.#name(at(0), 'folder', moment),
      mkdirat: () => this.#name(below(0), 'folder', moment),
      sendto: () => this.sent.push({ begun: moment.begun, bytes: bytesOf(words[1]) }),
    }
    const take = takes[name] ?? (() => this.#refuse(name, words))
    take()
  }

  #refuse(name: string, words: readonly string[]): void {
    if (name === 'io_uring_setup') throw new Error('the process has a ring, whose calls cannot be traced')
    const touched = words.flatMap((word) => this.#inside(openPath(word) ?? textOf(word)) ?? [])
    const writes = name !== 'mmap' || (words.includes('MAP_SHARED') && /PROT_WRITE/.test(words[2] ?? ''))
    const path = touched.find((each) => !isSharedMemory(each))
    if (path !== undefined && writes) throw new Error(`${name} of ${path} is not known to this recorder`)
  }

  /** Relative path; null for what is not recorded. */
  #inside(path: string | null): string | null {
    if (path === null || !path.startsWith(`${this.#root}/`)) return path === this.#root ? '' : null
    const inside = relative(this.#root, path)
    return isSharedMemory(inside) ? null : inside
  }

  #open(path: string | null, flags: string, moment: Moment): void {
    if (path === null || path === '') return
    const file = this.#names.get(path)
    if (file === undefined) {
      if (!flags.includes('O_CREAT')) throw new Error(`${path} was opened and is not there`)
      this.#name(path, ++this.#numbers, moment)
      return
    }
    if (file === 'folder') return
    if (!flags.includes('O_APPEND')) this.#ends.set(file, 0)
    if (flags.includes('O_TRUNC')) this.#resize(path, 0, moment)
  }

  #append(path: string | null, word: string | undefined, moment: Moment): void {
    if (path === null) return
    const file = this.#fileAt(path)
    const position = this.#ends.get(file) ?? 0
    this.#write(path, word, position, moment)
    this.#ends.set(file, position + bytesOf(word).length)
  }

  #write(path: string | null, word: string | undefined, position: number, moment: Moment): void {
    if (path === null) return
    this.operations.push({
      ...moment,
      kind: 'write',
      file: this.#fileAt(path),
      position,
      bytes: bytesOf(word),
    })
  }

  #resize(path: string | null, size: number, moment: Moment): void {
    if (path !== null) this.operations.push({ ...moment, kind: 'resize', file: this.#fileAt(path), size })
  }

  #sync(path: string | null, { begun, ended }: Moment): void {
    if (path === null || ended === Number.POSITIVE_INFINITY) return
    const of = this.#names.get(path) === 'folder' || path === '' ? path : this.#fileAt(path)
    this.syncs.push({ begun, ended, of })
  }

  #name(
    path: string | null,
    file: FileNumber | 'folder' | null,
    moment: Moment,
    former: string | null = null,
  ): void {
    if (path === null) return
    if (former !== null) this.#names.delete(former)
    if (file === null) this.#names.delete(path)
    else this.#names.set(path, file)
    this.operations.push({ ...moment, kind: 'name', path, file, former })
  }

  #rename(from: string | null, to: string | null, moment: Moment): void {
    if (from === null || to === null) {
      if (from !== to) throw new Error(`${from} was renamed to ${to}, out of or into the recorded folder`)
      return
    }
    this.#name(to, this.#fileAt(from), moment, from)
  }

  #fileAt(path: string): FileNumber {
    const file = this.#names.get(path)
    if (file === undefined || file === 'folder') throw new Error(`${path} is no recorded file`)
    return file
  }
}

const pathOf = (word: string | undefined) => Buffer.from(bytesOf(word)).toString()
const textOf = (word: string) => (/^"[^"]*"$/.test(word) ? pathOf(word) : null)

/** When the operation would survive a power cut from, whatever the disk does; Infinity where nothing made it durable. */
export function durableFrom(operation: DiskOperation, syncs: readonly Sync[]): number {
  const of = operation.kind === 'name' ? folderOf(operation.path) : operation.file
  const covering = syncs.filter((sync) => sync.of === of && sync.begun > operation.ended)
  return Math.min(...covering.map(({ ended }) => ended), Number.POSITIVE_INFINITY)
}

function folderOf(path: string): string {
  const folder = dirname(path)
  return folder === '.' ? '' : folder
}
