import type { ErrorPageView } from '../views.ts'
import { Layout, NoIndex } from './layout.tsx'

export function ErrorPage({ view }: { view: ErrorPageView }) {
  return (
    <Layout head={<NoIndex />} title={view.title}>
      <main className="message">
        <p className="status">{view.status}</p>
        <h1>{view.title}</h1>
        <p className="quiet">{view.message}</p>
        <a className="button button-quiet" href="/">
          Go to the start page
        </a>
      </main>
    </Layout>
  )
}
