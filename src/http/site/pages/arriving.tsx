import { Layout, NoIndex } from './layout.tsx'

export function ArrivingPage() {
  return (
    <Layout head={<NoIndex />} title="This file is still arriving">
      <main className="message">
        <h1>This file is still arriving</h1>
        <p className="quiet">Its upload is not complete yet. This link will show it as soon as it is.</p>
      </main>
    </Layout>
  )
}
