import type { ReactNode } from 'react'
import { faviconPath, stylesheetPath } from '../assets.ts'
import { Drawing } from './drawing.tsx'

/** The document around every page. `head` holds what is the page's own: descriptions for previews, robots. */
export function Layout(props: { title: string; head?: ReactNode; children: ReactNode }) {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${props.title} · Holdfast`}</title>
        {props.head}
        <link href={stylesheetPath} rel="stylesheet" />
        <link href={faviconPath} rel="icon" type="image/svg+xml" />
      </head>
      <body>
        <header className="top">
          <a className="brand" href="/">
            <Drawing of="holdfast" size={24} />
            Holdfast
          </a>
        </header>
        {props.children}
      </body>
    </html>
  )
}

/** What chat programs and social sites show for a link. */
export function LinkPreview(props: {
  title: string
  description: string
  url: string
  image?: string
  large?: boolean
}) {
  return (
    <>
      <meta name="description" content={props.description} />
      <meta property="og:site_name" content="Holdfast" />
      <meta property="og:type" content="website" />
      <meta property="og:title" content={props.title} />
      <meta property="og:description" content={props.description} />
      <meta property="og:url" content={props.url} />
      {props.image === undefined ? null : <meta property="og:image" content={props.image} />}
      <meta name="twitter:card" content={props.large ? 'summary_large_image' : 'summary'} />
    </>
  )
}

export function NoIndex() {
  return <meta name="robots" content="noindex" />
}
