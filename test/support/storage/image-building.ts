/** Builds the folder that a power cut has left of a recorded one. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DiskOperation, FileNumber, Recording } from './disk-operations.ts'

/** How much is kept of a change. A number, of a write: only its first bytes are kept. */
export type Kept = 'all' | 'nothing' | 'zeros' | number

const SECTOR = 512
const PAGE = 4096

/** What is left of a torn write: it is cut at its first or last boundary of a sector or a page, or is zeros. */
export function tearsOf(operation: DiskOperation | undefined): Kept[] {
  if (operation?.kind !== 'write') return []
  const { position, bytes } = operation
  const cuts = [SECTOR, PAGE].flatMap((unit) => {
    const first = unit - (position % unit)
    const last = bytes.length - ((position + bytes.length) % unit)
    return [first, last].filter((length) => length > 0 && length < bytes.length)
  })
  return [...new Set(cuts), 'zeros']
}

/**
 * Makes the folder, which is empty, what is kept of the recording. `kept` is by place in `Recording.operations`.
 * `only`: paths to build, left out for all.
 */
export function buildImage(
  folder: string,
  { before, files, operations }: Recording,
  kept: readonly Kept[],
  only?: readonly string[],
): void {
  const names = new Map<string, FileNumber | 'folder'>()
  const contents = new Map<FileNumber, Content>()
  const contentOf = (file: FileNumber) => {
    const content = contents.get(file) ?? new Content()
    contents.set(file, content)
    return content
  }
  for (const [path, content] of before) {
    const file = files.get(path)
    names.set(path, file ?? 'folder')
    if (file !== undefined && content !== null) contentOf(file).write(0, content)
  }
  kept.forEach((how, place) => {
    const operation = operations[place]
    if (operation === undefined || how === 'nothing') return
    if (operation.kind === 'name') {
      if (operation.former !== null) names.delete(operation.former)
      if (operation.file === null) names.delete(operation.path)
      else names.set(operation.path, operation.file)
      return
    }
    const content = contentOf(operation.file)
    if (operation.kind === 'resize') content.resize(operation.size)
    else content.write(operation.position, partOf(operation.bytes, how))
  })
  for (const [path, file] of [...names].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (only !== undefined && !only.includes(path)) continue
    // A name in a folder that is lost is lost with it.
    if (dirname(path) !== '.' && names.get(dirname(path)) !== 'folder') continue
    if (file === 'folder') mkdirSync(join(folder, path), { recursive: true })
    else writeFileSync(join(folder, path), contentOf(file).bytes)
  }
}

function partOf(bytes: Uint8Array<ArrayBuffer>, how: Kept): Uint8Array<ArrayBuffer> {
  if (how === 'zeros') return new Uint8Array(bytes.length)
  return typeof how === 'number' ? bytes.subarray(0, how) : bytes
}

/** Grows in place: the log of the database is written in a thousand pieces. */
class Content {
  #room = new Uint8Array(64 * 1024)
  #size = 0

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#room.subarray(0, this.#size)
  }

  write(position: number, bytes: Uint8Array<ArrayBuffer>): void {
    const end = position + bytes.length
    if (end > this.#size) this.resize(end)
    this.#room.set(bytes, position)
  }

  resize(size: number): void {
    if (size > this.#room.length) {
      const room = new Uint8Array(2 * size)
      room.set(this.bytes)
      this.#room = room
    }
    // What is cut off comes back as zeros.
    if (size < this.#size) this.#room.fill(0, size, this.#size)
    this.#size = size
  }
}
