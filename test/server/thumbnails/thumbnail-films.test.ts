/** Posters: a picture of a film, by ffmpeg, which gets nothing but the film. */
// Only in test:all: makes films; guard.contract.test.ts has the process that reads them.
// A process of its own: looks at what the process has started.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { createSpawner } from '../../../src/thumbnails/spawning.ts'
import { type Bytes, textBytes, upload } from '../../support/clients/public.ts'
import { expectIcon, thumbnailOf } from '../../support/clients/thumbnails.ts'
import { edges } from '../../support/contents/pictures.ts'
import { logLines } from '../../support/processes/child.ts'
import { reportNotRun } from '../../support/processes/not-run.ts'
import { runProgram } from '../../support/processes/program.ts'
import { whyNoTools } from '../../support/processes/tools.ts'
import { onCluster } from '../../support/servers/holdfast.ts'
import { ownedHost } from '../../support/servers/owned-host.ts'

const SOURCES = join(import.meta.dir, '../../../src')
const ffmpeg = Bun.which('ffmpeg')
const { isOffline } = createSpawner()
const obstacle =
  whyNoTools('ffmpeg') ??
  (isOffline ? null : 'this system does not let a program be started without network access')
if (obstacle !== null) {
  reportNotRun('posters of films', obstacle)
  test.if(process.env.CI === 'true' && ffmpeg === null)('ffmpeg can be had', () => {
    throw new Error(obstacle)
  })
}

const { host, key } = await ownedHost()
const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A film of a second, red on the left and blue on the right, after a moment of black. */
function film(name: string, ...options: string[]): Promise<Bytes> {
  return blackThenColours({ black: 4 / 24, seconds: 1 }, name, ...options)
}

async function blackThenColours(
  { black: dark, seconds }: { black: number; seconds: number },
  name: string,
  ...options: string[]
): Promise<Bytes> {
  const path = join(folder, name)
  const half = (colour: string) => `color=${colour}:s=640x720:r=24:d=${seconds}`
  const source = `${half('red')}[l];${half('blue')}[r];[l][r]hstack`
  const black = `drawbox=c=black:t=fill:enable='lt(t,${dark})'`
  const command = ['-v', 'error', '-y', '-f', 'lavfi', '-i', `${source},${black}`, '-pix_fmt', 'yuv420p']
  const made = Bun.spawnSync([ffmpeg ?? '', ...command, ...options, path])
  if (made.exitCode !== 0) throw new Error(made.stderr.toString())
  return new Uint8Array(await Bun.file(path).bytes())
}

describe.skipIf(obstacle !== null)('the poster of a film', () => {
  const films: readonly (readonly [string, readonly string[]])[] = [
    ['film.mp4', ['-c:v', 'libx264']],
    ['fast.mp4', ['-c:v', 'libx264', '-movflags', 'faststart']],
    ['film.mov', ['-c:v', 'mpeg4']],
    ['film.webm', ['-c:v', 'libvpx', '-deadline', 'realtime']],
    ['film.mkv', ['-c:v', 'libx264']],
    ['film.avi', ['-c:v', 'mpeg4']],
    ['film.ts', ['-c:v', 'mpeg2video']],
  ]
  // How a film is read from a store is the same for all of them: this one is read here and there.
  test.each(onCluster ? films.slice(0, 1) : films)(
    '%s is WebP in two sizes, and not black',
    async (name, options) => {
      const file = await upload(host, { key, name, bytes: await film(name, ...options) })
      const small = await thumbnailOf(host, key, file)
      expect(await sharp(small).metadata()).toMatchObject({ format: 'webp', width: 320, height: 180 })
      const { data, info } = await sharp(small).raw().toBuffer({ resolveWithObject: true })
      const last = (info.width * Math.floor(info.height / 2) - 1) * info.channels
      const first = last - (info.width - 1) * info.channels
      expect(data[first]).toBeGreaterThan(180)
      expect(data[last + 2]).toBeGreaterThan(180)
      const large = await thumbnailOf(host, key, file, '?size=960')
      expect(await sharp(large).metadata()).toMatchObject({ width: 960, height: 540 })
    },
  )

  test.each([
    ['a moment', { black: 1.5, seconds: 3 }, []],
    ['longer than from one key frame to the next', { black: 4, seconds: 6 }, ['-g', '24']],
  ] as const)('shows a later frame when the film is black for %s', async (_name, times, options) => {
    const bytes = await blackThenColours(
      times,
      'late.mp4',
      ...['-c:v', 'libx264', '-preset', 'ultrafast'],
      ...options,
    )
    const shown = await thumbnailOf(host, key, await upload(host, { key, name: 'late.mp4', bytes }))
    expect(await edges(shown)).toMatchObject({ left: 'red', right: 'blue' })
    const { channels } = await sharp(shown).stats()
    expect(channels[0]?.mean).toBeGreaterThan(90)
  })

  test('is dark when all of the film is', async () => {
    const bytes = await blackThenColours(
      { black: 2, seconds: 2 },
      'dark.mp4',
      ...['-c:v', 'libx264', '-preset', 'ultrafast'],
    )
    const shown = await thumbnailOf(host, key, await upload(host, { key, name: 'dark.mp4', bytes }))
    expect((await sharp(shown).stats()).channels[0]?.mean).toBeLessThan(10)
  })

  test('is an icon when nothing can be read of it', async () => {
    const whole = await film('whole.mp4', '-c:v', 'libx264')
    await expectIcon(host, key, await upload(host, { key, name: 'a.mp4', bytes: whole.slice(0, 2000) }))
    const sound = textBytes('\x1a\x45\xdf\xa3'.repeat(100))
    await expectIcon(host, key, await upload(host, { key, name: 'a.mkv', bytes: sound }))
  })
})

describe('a film that names other places', () => {
  let asked = 0
  let server: Bun.Server<undefined>
  beforeAll(() => {
    server = Bun.serve({
      port: 0,
      fetch() {
        asked += 1
        return new Response('here it is')
      },
    })
  })
  afterAll(() => server.stop(true))

  const lists = (place: string) => [
    `#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1.0,\n${place}\n#EXT-X-ENDLIST\n`,
    `ffconcat version 1.0\nfile '${place}'\n`,
    `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>${place}</BaseURL></MPD>`,
    `[reference]\nRef1=${place}\n`,
  ]
  /** What films begin with, so that it goes on to ffmpeg, and nothing. */
  const beginnings = [
    '',
    '\0\0\0\x18ftypmp42',
    '\x1a\x45\xdf\xa3',
    'RIFF0000AVI LIST',
    'FLV\x01',
    '\0\0\x01\xba',
    'OggS\x80theora',
  ]

  test('leads nowhere: no address is asked, and no file of the server’s is shown', async () => {
    const places = [
      `http://localhost:${server.port}/x.ts`,
      'file:///etc/passwd',
      '/etc/passwd',
      'concat:/etc/passwd|/etc/passwd',
    ]
    // Every kind of list behind everything that films begin with, and by itself with every place.
    const bytes = beginnings.flatMap((beginning, at) =>
      places.flatMap((place, which) => {
        const list = lists(place)[(at + which) % places.length] ?? ''
        return (beginning === '' ? lists(place) : [list]).map((each) =>
          Buffer.from(beginning + each, 'latin1'),
        )
      }),
    )
    const names = ['film.mp4', 'film.m3u8', 'film.ffconcat']
    const files = await Promise.all(
      bytes.map((each, at) => upload(host, { key, name: names[at % 3] ?? '', bytes: new Uint8Array(each) })),
    )
    for (const file of files) await expectIcon(host, key, file)
    expect(asked).toBe(0)
  })

  test.skipIf(!isOffline)('reaches nobody from where it is read, whatever it makes ffmpeg do', async () => {
    const address = `http://127.0.0.1:${server.port}/`
    expect(await (await fetch(address)).text()).toBe('here it is')
    const before = asked
    const told = join(folder, 'reached')
    const write = (what: string) => `() => Bun.write('${told}', '${what}')`
    const program = `fetch('${address}').then(${write('somebody')}, ${write('nobody')})`
    await createSpawner().spawn([process.execPath, '-e', program], 'pipe').exited
    expect(await Bun.file(told).text()).toBe('nobody')
    expect(asked).toBe(before)
  })
})

test('where ffmpeg cannot be kept from the network there are no posters, which the log says once', async () => {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  symlinkSync('/bin/true', join(bin, 'ffmpeg'))
  const program = `
    import { createLog } from '${SOURCES}/log.ts'
    import { createLocalMaker } from '${SOURCES}/thumbnails/local-maker.ts'
    const maker = createLocalMaker(createLog('info', { terminal: false }))
    const nothing = { size: 0, async readInto() {} }
    const making = () => maker.make('mov', nothing, new AbortController().signal)
    const made = [await making(), await making(), await maker.canMakePosters()]
    process.exitCode = Bun.deepEquals(made, [{ kind: 'unsupported' }, { kind: 'unsupported' }, false]) ? 0 : 1`
  const { code, output } = await runProgram([process.execPath, '-e', program], { env: { PATH: bin } })
  expect(code).toBe(0)
  expect(logLines(output)).toEqual([
    expect.objectContaining({ level: 'warn', msg: expect.stringContaining('without network access') }),
  ])
})
