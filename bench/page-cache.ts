import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const PIECE = 1024 * 1024

/**
 * Touches enough page cache for a file of that size. A virtual machine gets memory that it has not used for
 * some seconds from its host page by page, which takes longer than an upload: a contender that runs after
 * another's file was deleted would seem twice as fast.
 */
export function readyMemory(folder: string, bytes: number): void {
  const path = join(folder, 'ready.bin')
  const piece = new Uint8Array(PIECE)
  const file = openSync(path, 'w')
  for (let written = 0; written < bytes; written += piece.length) writeSync(file, piece)
  closeSync(file)
  rmSync(path)
}
