import { Button } from '@mantine/core'
import type { PageContext } from './context.ts'
import { Layout, NoIndex } from './layout.tsx'

export function ArrivingPage({ context }: { context: PageContext }) {
  const { arriving, arrivingWhy, lookAgain } = context.texts.file
  return (
    <Layout context={context} head={<NoIndex />} title={arriving}>
      <main className="message">
        <h1>{arriving}</h1>
        <p className="quiet">{arrivingWhy}</p>
        <Button component="a" href="" rel="nofollow">
          {lookAgain}
        </Button>
      </main>
    </Layout>
  )
}
