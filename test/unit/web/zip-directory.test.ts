/** The list at the end of ZIP files, as other programs write them and as nobody should. */
import { beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readZipDirectory } from '../../../web/file/zip-directory.ts'
import { describeWith, whyNoTools } from '../../support/processes/tools.ts'

const LIMITS = { entries: 1000, bytes: 1024 ** 2 }

/** Reads the list, and tells how many bytes that took. */
async function directoryOf(zip: Uint8Array, limits = LIMITS) {
  let read = 0
  const directory = await readZipDirectory(
    zip.length,
    async (start, end) => {
      const part = new Uint8Array(zip.subarray(start, end))
      read += part.length
      return part
    },
    limits,
  )
  return { ...directory, read }
}

/** What the Python program writes to the path it is given. */
async function zipped(program: string): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  try {
    const path = join(folder, 'made.zip')
    const made = Bun.spawnSync([
      'python3',
      '-c',
      `import sys, zipfile, io\npath = sys.argv[1]\n${program}`,
      path,
    ])
    if (made.exitCode !== 0) throw new Error(made.stderr.toString())
    return await Bun.file(path).bytes()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

let small: Uint8Array
beforeAll(async () => {
  if (whyNoTools('python3') === null) small = await zipped(SMALL)
})
const SMALL = `
with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as z:
  z.writestr('letters/über.txt', 'x' * 5000)
  z.writestr('letters/empty/', '')
  z.writestr('plain.txt', 'hello')
`

describeWith(['python3'], 'the list of a ZIP file', () => {
  test('names every entry with its size when unpacked', async () => {
    const { entries, total } = await directoryOf(small)
    expect(total).toBe(3)
    expect(entries).toEqual([
      { path: 'letters/über.txt', size: 5000, isFolder: false },
      { path: 'letters/empty/', size: 0, isFolder: true },
      { path: 'plain.txt', size: 5, isFolder: false },
    ])
  })

  test('is found before a comment, and behind a program that unpacks it', async () => {
    const commented = await zipped(`
with zipfile.ZipFile(path, 'w') as z:
  z.writestr('one.txt', '1')
  z.comment = b'PK\\x05\\x06 said here' * 100
`)
    expect((await directoryOf(commented)).entries).toHaveLength(1)
    const program = new Uint8Array(Buffer.concat([Buffer.alloc(70_000, '#!/bin/sh\n'), small]))
    expect((await directoryOf(program)).entries).toHaveLength(3)
  })

  test('is read of a file with ZIP64 records', async () => {
    const large = await zipped(`
with zipfile.ZipFile(path, 'w') as z:
  with z.open('streamed.bin', 'w', force_zip64=True) as f: f.write(b'abc')
  for n in range(70000): z.writestr(str(n), '')
`)
    const { entries, total } = await directoryOf(large)
    expect(total).toBe(70_001)
    expect(entries).toHaveLength(1000)
    expect(entries[0]).toEqual({ path: 'streamed.bin', size: 3, isFolder: false })
  })

  test('has names in code page 437 where they are not UTF-8', async () => {
    const old = new Uint8Array(small)
    for (let at = old.indexOf(0xc3); at >= 0; at = old.indexOf(0xc3, at)) old.set([0x81, 0x2d], at)
    // Nothing says UTF-8 any more.
    const flags = Buffer.from(old).indexOf('PK\x01\x02') + 9
    old[flags] = 0
    expect((await directoryOf(old)).entries[0]?.path).toBe('letters/ü-ber.txt')
  })

  test('of nothing is empty', async () => {
    const empty = await zipped(`zipfile.ZipFile(path, 'w').close()`)
    expect(await directoryOf(empty)).toMatchObject({ entries: [], total: 0 })
  })

  test('costs no more than its limits, whatever it claims', async () => {
    const claims = new Uint8Array(small)
    const view = new DataView(claims.buffer)
    const end = claims.length - 22
    view.setUint16(end + 10, 60_000, true)
    const { entries, total } = await directoryOf(claims)
    expect([entries.length, total]).toEqual([3, 60_000])
    const many = await zipped(`
with zipfile.ZipFile(path, 'w') as z:
  for n in range(5000): z.writestr('a' * 200 + str(n), '')
`)
    const limited = await directoryOf(many, { entries: 1000, bytes: 10_000 })
    expect(limited.entries.length).toBeWithin(1, 50)
    expect(limited.read).toBeLessThan(90_000)
  })

  test('is refused where there is none', async () => {
    const noise = crypto.getRandomValues(new Uint8Array(5000))
    for (const bytes of [noise, noise.subarray(0, 3), small.subarray(0, -40), new Uint8Array()]) {
      await expect(directoryOf(bytes)).rejects.toThrow()
    }
  })

  test('never breaks on bytes that were changed', async () => {
    for (let at = 0; at < small.length; at += 1) {
      const changed = new Uint8Array(small)
      changed[at] = 0xff
      await directoryOf(changed).catch((error: unknown) => expect(error).toBeInstanceOf(Error))
    }
  })
})
