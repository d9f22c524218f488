import { Button } from '@mantine/core'
import { fill } from '../../../web/shared/words.ts'
import type { ArrivingPageView } from '../arriving-view.ts'
import type { PageContext } from './context.ts'
import { Layout, NoIndex } from './layout.tsx'

interface Props {
  readonly view: ArrivingPageView
  readonly context: PageContext
}

/** The script updates the progress, and replaces the page once the file is stored. */
export function ArrivingPage({ view, context }: Props) {
  const { lookAgain } = context.texts.file
  return (
    <Layout context={context} head={<NoIndex />} isMoving title={view.name}>
      <main className="message">
        <h1>
          <bdi>{view.name}</bdi>
        </h1>
        <div className="arrived" data-live>
          <Arrived context={context} view={view} />
        </div>
        <div data-live>
          <Download context={context} view={view} />
        </div>
        <Button component="a" href="" rel="nofollow" variant="default">
          {lookAgain}
        </Button>
      </main>
    </Layout>
  )
}

function Arrived({ view: { received, size, stalledFor }, context: { texts, words } }: Props) {
  const { arriving, arrivingStalled, arrived, arrivedAll, arrivedUnsized } = texts.file
  const isAll = size !== null && received >= size
  const said =
    stalledFor === null || isAll
      ? arriving
      : fill(arrivingStalled, { minutes: words.count(stalledFor, texts.common.minutes) })
  if (size === null)
    return (
      <>
        <p>{said}</p>
        <p>{fill(arrivedUnsized, { received: words.size(received) })}</p>
      </>
    )
  return (
    <>
      <p>{said}</p>
      {/* Indeterminate while the server assembles the file, which takes a while for partial uploads. */}
      <progress aria-label={texts.file.arriving} max={size} value={isAll ? undefined : received} />
      <p>{fill(isAll ? arrivedAll : arrived, { received: words.size(received), size: words.size(size) })}</p>
    </>
  )
}

function Download({ view: { downloadUrl }, context: { texts } }: Props) {
  const { arrivingWhy, arrivingDownload, arrivingDownloadWhy } = texts.file
  if (downloadUrl === null) return <p className="quiet">{arrivingWhy}</p>
  return (
    <>
      <p className="quiet">{arrivingDownloadWhy}</p>
      <Button className="arriving-download" component="a" href={downloadUrl} rel="nofollow">
        {arrivingDownload}
      </Button>
    </>
  )
}
