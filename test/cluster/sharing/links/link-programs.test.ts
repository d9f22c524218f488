/** What real programs that download in parts make of a link for one download. */
import { beforeAll, expect } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { type Api, api } from '../../../support/clients/api.ts'
import { sha256 } from '../../../support/clients/caller.ts'
import { makeLink } from '../../../support/clients/links.ts'
import { GENEROUS, randomBytes } from '../../../support/clients/public.ts'
import { temporaryFolder } from '../../../support/processes/child.ts'
import { testWith } from '../../../support/processes/tools.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

const MIB = 1024 * 1024
const CONTENT = randomBytes(12 * MIB)

let key: string
let account: Api
let file: string
const host = await hostOfFile(GENEROUS)
beforeAll(async () => {
  key = (await host.addAccount()).apiKey
  account = api(host, key)
  file = (await account.put(CONTENT, { name: 'film.mkv' })).slug
})

const state = z.object({ data: z.object({ state: z.string(), downloads: z.number() }) })

/** A link for one download, and what became of it. */
async function linkForOne() {
  const slug = await makeLink(host, key, { files: [file], max_downloads: 1 })
  const address = `${host.url}/l/${slug}?download=1`
  return {
    address,
    async isOver() {
      expect(state.parse((await account.get(`/api/v1/links/${slug}`)).body).data).toEqual({
        state: 'used_up',
        downloads: 1,
      })
      expect((await fetch(address)).status).toBe(404)
    },
  }
}

async function hashOf(path: string): Promise<string> {
  return sha256(await Bun.file(path).bytes())
}

testWith(['aria2c'], 'eight connections of aria2c are one download', async () => {
  using folder = temporaryFolder()
  const { address, isOver } = await linkForOne()
  const parts = ['-x8', '-s8', '-k1M', '--max-overall-download-limit=24M', '--no-conf']
  await Bun.$`aria2c ${parts} -d ${folder.path} ${address}`.quiet()
  expect(await hashOf(join(folder.path, 'film.mkv'))).toBe(sha256(CONTENT))
  await isOver()
})

testWith(['curl'], 'what curl goes on with is the same download', async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'film.mkv')
  const { address, isOver } = await linkForOne()
  const broken = await Bun.$`curl -sL --max-filesize 20M -r 0-${7 * MIB} -o ${path} ${address}`
    .nothrow()
    .quiet()
  expect(broken.exitCode).toBe(0)
  await Bun.$`curl -sL -C - -o ${path} ${address}`.quiet()
  expect(await hashOf(path)).toBe(sha256(CONTENT))
  await isOver()
})
