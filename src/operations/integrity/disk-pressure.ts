import { readFile } from 'node:fs/promises'

/** Share (0 to 1) of the last ten seconds in which work here waited for a disk; null where the system does not tell. */
export type DiskPressure = () => Promise<number | null>

const TEN_SECONDS = /^some avg10=(\d+(?:\.\d+)?) /

/** Linux (`Documentation/accounting/psi.rst`). Kernels without PSI, and other systems, lack the file. */
export async function linuxDiskPressure(file = '/proc/pressure/io'): Promise<number | null> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const percent = TEN_SECONDS.exec(text)?.[1]
  return percent === undefined ? null : Number(percent) / 100
}
