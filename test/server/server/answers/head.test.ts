import { beforeAll, describe, expect, test } from 'bun:test'
import { routes } from '../../../../src/server/routes.ts'
import { bearer, GENEROUS, makeFolder, upload } from '../../../support/clients/public.ts'
import { hostOfFile } from '../../../support/servers/owned-host.ts'

let key: string
/** What stands in a path for a parameter of that name; others are left as something that is not there. */
let params: Readonly<Record<string, string>>

const holdfast = await hostOfFile({ ...GENEROUS, metrics: { token: null } })
beforeAll(async () => {
  key = (await holdfast.addAccount('owner')).apiKey
  const folder = await makeFolder(holdfast, key, { public: 1 })
  const file = await upload(holdfast, { key, folder, bytes: new Uint8Array(5000).fill(97) })
  params = { slug: file.slug, uuid: file.uuid, id: file.slug, identifier: folder, folder }
})

const paths = [...new Set(routes.filter(({ method }) => method === 'get').map(({ path }) => path))]
/** Events have no end, and so no GET to compare with; HEAD of an upload is the protocol of resumable uploads (tus). */
const OTHERS = ['/api/v1/events', '/api/v1/uploads/{upload}']
const compared = paths.filter((path) => !OTHERS.includes(path))

/** What tells of the body. */
const TOLD = ['content-type', 'content-encoding', 'content-disposition', 'vary', 'location', 'cache-control']

describe.each([...compared, '/assets/file.svg', '/nowhere'])('HEAD of %s', (path) => {
  test.each(['identity', 'gzip'])('tells what GET would, where the client accepts %s', async (encoding) => {
    const address =
      holdfast.nodeUrl + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? 'nothing')
    const ask = (method: string) =>
      fetch(address, {
        method,
        redirect: 'manual',
        decompress: false,
        headers: { ...bearer(key), 'Accept-Encoding': encoding },
      })
    const lengths: (number | null)[] = []
    const get = await ask('GET')
    lengths.push((await get.bytes()).byteLength)
    const head = await ask('HEAD')
    expect((await head.bytes()).byteLength).toBe(0)
    // What is counted may be written with a digit more each time: all is asked of one node, since another may be
    // behind with its counts for a second.
    lengths.push((await (await ask('GET')).bytes()).byteLength)
    expect(head.status).toBe(get.status)
    for (const name of TOLD) expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)])
    const told = head.headers.get('content-length')
    if (told === null)
      expect(get.body === null || lengths[0] === 0 || !get.headers.has('content-length')).toBe(true)
    else if (get.headers.get('content-encoding') === null) expect(lengths).toContain(Number(told))
    // A page names another signed address each time, which is as long and may compress by some bytes more or less.
    else expect(Math.abs(Number(told) - Number(lengths[0]))).toBeLessThan(32)
  })
})
