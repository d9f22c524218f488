// Only in test:all: generated: zip-folder.test.ts unpacks some.
import { afterAll, describe, expect, test } from 'bun:test'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { ZIP_TOP, type ZipEntries, zipEntries, zipLayout } from '../../../../src/downloads/zip/zip-records.ts'
import { runsOf, sampleOf } from '../../../support/cases.ts'
import { chance } from '../../../support/chance.ts'
import { run, zipMembers, zipPrograms } from '../../../support/clients/zip-programs.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { describeWith } from '../../../support/processes/tools.ts'

const GIB = 1024 ** 3
const MODIFIED = Date.UTC(2026, 10, 21, 19, 30, 41)

const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())

function addFile(entries: ZipEntries, name: string, content: Uint8Array, at = ZIP_TOP): void {
  const crc32 = Bun.hash.crc32(content)
  entries.add({ folder: at, name, isFolder: false, size: content.length, crc32, modifiedAt: MODIFIED })
}

function addFolder(entries: ZipEntries, name: string, at = ZIP_TOP): number {
  return entries.add({ folder: at, name, isFolder: true, size: 0, crc32: 0, modifiedAt: MODIFIED })
}

/** The bytes `start` to `end` of the archive, given the contents of its entries. */
function bytesOf(
  entries: ZipEntries,
  contents: ReadonlyMap<number, Uint8Array>,
  start = 0,
  end = zipLayout(entries).size,
): Buffer {
  const pieces = [...zipLayout(entries).segments(start, end)].map((segment) =>
    segment.kind === 'record'
      ? segment.bytes
      : (contents.get(segment.entry) ?? new Uint8Array()).subarray(segment.start, segment.end),
  )
  return Buffer.concat(pieces)
}

/** Writes the records where they belong; contents are holes, which read as zeros and take no room. */
function writeSparse(path: string, entries: ZipEntries): void {
  const layout = zipLayout(entries)
  const file = openSync(path, 'w')
  let position = 0
  for (const segment of layout.segments(0, layout.size)) {
    if (segment.kind === 'record') {
      writeSync(file, segment.bytes, 0, segment.bytes.length, position)
      position += segment.bytes.length
    } else position += segment.end - segment.start
  }
  closeSync(file)
  expect(position).toBe(layout.size)
}

/** Three folders deep, an empty folder, an empty file, and contents from 1 byte to 3,000. */
function sample(): { entries: ZipEntries; contents: Map<number, Uint8Array> } {
  const random = chance(4)
  const entries = zipEntries()
  const contents = new Map<number, Uint8Array>()
  const file = (name: string, size: number, at = ZIP_TOP) => {
    const content = random.bytes(size)
    contents.set(entries.count, content)
    addFile(entries, name, content, at)
  }
  const photos = addFolder(entries, 'photos')
  addFolder(entries, 'nothing in here')
  file('a.txt', 1000)
  file('Übersicht – 日本語.pdf', 1)
  const deep = addFolder(entries, 'day 1', photos)
  file('empty', 0, photos)
  file('a.txt', 3000, photos)
  file('a.txt', 77, deep)
  return { entries, contents }
}

describe('a zip', () => {
  test('is as long as was computed', () => {
    const { entries, contents } = sample()
    expect(bytesOf(entries, contents).length).toBe(zipLayout(entries).size)
  })

  test('read at any range is the same as read whole', () => {
    const { entries, contents } = sample()
    const whole = bytesOf(entries, contents)
    fc.assert(
      fc.property(fc.nat(whole.length), fc.nat(whole.length), (one, other) => {
        const [start, end] = one < other ? [one, other] : [other, one]
        expect(bytesOf(entries, contents, start, end).equals(whole.subarray(start, end))).toBe(true)
      }),
      { numRuns: runsOf(2000) },
    )
  })

  test('tells which entries begin in a range', () => {
    const { entries } = sample()
    const layout = zipLayout(entries)
    const begun = (start: number, end: number) =>
      [...layout.segments(start, end)].flatMap((segment) =>
        segment.kind === 'record' && segment.begins !== null ? [segment.begins] : [],
      )
    const all = Array.from({ length: entries.count }, (_, entry) => entry)
    expect(begun(0, layout.size)).toEqual(all)
    expect(begun(1, layout.size)).toEqual(all.slice(1))
    expect(begun(layout.size - 500, layout.size)).toEqual([])
    for (const cut of [1, 100, 1200, 3000]) {
      expect([...begun(0, cut), ...begun(cut, layout.size)]).toEqual(all)
    }
  })
})

describeWith(['7z', 'bsdtar', 'python3', 'unzip'], 'a zip of more than the old format holds', () => {
  /** With and without ZIP64: the largest number of entries that the old field holds is the mark for ZIP64. The long tier has more. */
  const counts = [65_534, 65_535, 65_536]

  test.each(sampleOf(counts))('has all of %d entries for every program', async (count) => {
    const entries = zipEntries()
    for (let number = 0; number < count; number++) addFile(entries, `${number}.txt`, new Uint8Array())
    const zip = join(folder.path, `${count}.zip`)
    await Bun.write(zip, bytesOf(entries, new Map()))
    for (const program of zipPrograms) {
      const listed = program.listed(await run(program.list(zip)))
      expect({ name: program.name, count: listed.length }).toEqual({ name: program.name, count })
      expect(listed.at(-1)).toBe(`${count - 1}.txt`)
    }
  })

  const sizes = [
    ['a file just under 4 GiB', [2 ** 32 - 2]],
    ['a file of 4 GiB', [2 ** 32]],
    ['offsets beyond 4 GiB', [3 * GIB, 3 * GIB, 3 * GIB]],
    ['an offset of just the old field’s largest value', [2 ** 32 - 1 - 44]],
    ['a file of 5 GiB between others', [10, 5 * GIB, 10]],
  ] as const

  test('a file of just the old field’s largest value is listed with its size', async () => {
    const entries = zipEntries()
    const entry = { folder: ZIP_TOP, isFolder: false, crc32: 0, modifiedAt: MODIFIED }
    entries.add({ ...entry, name: '0.bin', size: 2 ** 32 - 1 })
    const zip = join(folder.path, 'mark.zip')
    writeSparse(zip, entries)
    expect((await zipMembers(zip)).map(({ size }) => size)).toEqual([2 ** 32 - 1])
    for (const program of zipPrograms) {
      // unzip 6.0 takes the value for the mark again, warns of that, and goes on.
      if (program.name === 'unzip') continue
      expect(program.listed(await run(program.list(zip)))).toEqual(['0.bin'])
    }
  })

  test.each(sizes)('%s is listed by every program with its size', async (_, contents) => {
    const entries = zipEntries()
    for (const [number, size] of contents.entries()) {
      const entry = { folder: ZIP_TOP, isFolder: false, crc32: 0, modifiedAt: MODIFIED }
      entries.add({ ...entry, name: `${number}.bin`, size })
    }
    addFile(entries, 'last', new Uint8Array(5))
    const zip = join(folder.path, 'sparse.zip')
    writeSparse(zip, entries)
    const expected = [...contents, 5]
    expect((await zipMembers(zip)).map(({ size }) => size)).toEqual(expected)
    for (const program of zipPrograms) {
      expect(program.listed(await run(program.list(zip)))).toHaveLength(expected.length)
    }
    // The last of them lies behind everything else, so it is only found where the offsets are right.
    expect(await run(['unzip', '-p', zip, 'last'])).toBe('\0'.repeat(5))
    expect(await run(['bsdtar', '-xOf', zip, 'last'])).toBe('\0'.repeat(5))
  })
})
