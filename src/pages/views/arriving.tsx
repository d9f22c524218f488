import { Button } from '@mantine/core'
import { fill } from '../../../web/shared/words.ts'
import type { ArrivingPageView } from '../arriving-view.ts'
import type { PageContext } from './context.ts'
import { Layout, NoIndex } from './layout.tsx'

interface Props {
  readonly view: ArrivingPageView
  readonly context: PageContext
}

export function ArrivingPage({ view, context }: Props) {
  const { arriving, arrivingWhy, arrivingDownload, arrivingDownloadWhy, lookAgain } = context.texts.file
  const { downloadUrl } = view
  return (
    <Layout context={context} head={<NoIndex />} isLive title={arriving}>
      <main className="message">
        <h1>{arriving}</h1>
        <Arrived context={context} view={view} />
        <p className="quiet">{downloadUrl === null ? arrivingWhy : arrivingDownloadWhy}</p>
        <div className="message-actions">
          {downloadUrl === null ? null : (
            <Button component="a" href={downloadUrl} rel="nofollow">
              {arrivingDownload}
            </Button>
          )}
          <Button component="a" href="" rel="nofollow" variant={downloadUrl === null ? 'filled' : 'default'}>
            {lookAgain}
          </Button>
        </div>
      </main>
    </Layout>
  )
}

/** Kept as it is now by the script, and the page with it once the file is there. */
function Arrived({ view: { received, size }, context: { texts, words } }: Props) {
  const { arrived, arrivedUnsized } = texts.file
  const facts = { received: words.size(received), size: words.size(size ?? 0) }
  return (
    <div className="arrived" data-live>
      {size === null ? null : <progress aria-label={texts.file.arriving} max={size} value={received} />}
      <p>{fill(size === null ? arrivedUnsized : arrived, facts)}</p>
    </div>
  )
}
