import { readFile } from 'node:fs/promises'

/**
 * Part of the last ten seconds, from 0 to 1, in which some work on this machine waited for a disk; null where the system
 * does not tell.
 */
export type DiskPressure = () => Promise<number | null>

const TEN_SECONDS = /^some avg10=(\d+(?:\.\d+)?) /

/** Asks Linux (`Documentation/accounting/psi.rst`). Kernels without it, and other systems, do not have the file. */
export async function linuxDiskPressure(file = '/proc/pressure/io'): Promise<number | null> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const percent = TEN_SECONDS.exec(text)?.[1]
  return percent === undefined ? null : Number(percent) / 100
}
