import type { DownloadJob } from '../client-job.ts'
import { BIG_DOWNLOAD, downloader, measuredContentAddress } from '../downloads.ts'
import { type Contender, MIB, type Scenario } from '../measure.ts'
import type { Listed } from '../preparation.ts'
import { detailPath, FILE_DETAIL, loaded, PAGE, pagePath } from '../requests.ts'
import type { MeasuredEndpoint } from '../servers.ts'
import { BIG_UPLOAD, SMALL_FILE, uploader, uploadTo } from '../uploads.ts'

/** One setup of Holdfast. */
export interface NodesWay {
  readonly name: string
  readonly server: MeasuredEndpoint
  /** Key of the account that uploads. */
  readonly key: string
  /** Slug of the big file to download. */
  readonly slug: string
  readonly listed: Listed
}

export interface Amounts {
  readonly bigSize: number
  readonly smallCount: number
  readonly rangeCount: number
  /** Number of files in the listed account. */
  readonly listedCount: number
  /** Duration of each measurement of requests. */
  readonly seconds: number
}

/** The scenarios of `npm run bench` that concern Holdfast, for each setup. */
export function nodesScenarios(ways: readonly NodesWay[], amounts: Amounts): Scenario[] {
  const { bigSize, smallCount, rangeCount, listedCount } = amounts
  const ranges = { count: rangeCount, length: MIB, size: bigSize }
  const uploads = (size: number, count: number, connections: number, unit: number): Contender[] =>
    ways.map(({ name, server, key }) =>
      uploader(name, server, uploadTo(server, key), size, count, connections, unit),
    )
  const downloads = (wanted: DownloadJob['ranges']): Contender[] =>
    ways.map(({ name, server, slug }) =>
      downloader(name, server, () => measuredContentAddress(server, slug), wanted),
    )
  const requests = (title: string, path: (listed: Listed) => string): Scenario => ({
    title,
    unit: 'requests/s',
    per: 'million requests',
    contenders: ways.map(({ name, server, listed }) =>
      loaded(name, server, path(listed), listed.key, amounts.seconds),
    ),
  })
  return [
    {
      title: BIG_UPLOAD,
      unit: 'MiB/s',
      per: 'GiB',
      writes: bigSize,
      contenders: uploads(bigSize, 1, 1, MIB),
    },
    {
      title: `${smallCount} × 100 KiB, one after another`,
      unit: 'files/s',
      per: 'GiB',
      writes: smallCount * SMALL_FILE,
      contenders: uploads(SMALL_FILE, smallCount, 1, SMALL_FILE),
    },
    {
      title: `${smallCount} × 100 KiB, 16 at once`,
      unit: 'files/s',
      per: 'GiB',
      writes: smallCount * SMALL_FILE,
      contenders: uploads(SMALL_FILE, smallCount, 16, SMALL_FILE),
    },
    { title: BIG_DOWNLOAD, unit: 'MiB/s', per: 'GiB', contenders: downloads(null) },
    {
      title: `${rangeCount} random ranges of 1 MiB, one after another`,
      unit: 'ranges/s',
      per: 'GiB',
      contenders: downloads(ranges),
    },
    requests(FILE_DETAIL, ({ slug }) => detailPath(slug)),
    requests(`First page, ${PAGE} of ${listedCount} files`, () => pagePath(1)),
    requests(`Last page, ${PAGE} of ${listedCount} files`, () => pagePath(Math.ceil(listedCount / PAGE))),
  ]
}
