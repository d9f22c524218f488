import type { ReactNode } from 'react'
import type { ScriptedPage } from '../../../web/manifest.ts'
import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { Mark } from '../../../web/shared/drawings/mark.tsx'
import { ACCOUNT_BUTTON, ACCOUNT_MENU } from '../../../web/shared/menus/account-menu.ts'
import { PAGE_DATA } from '../../../web/shared/public-page-data.ts'
import { SITE_NAME } from '../../../web/shared/site-name.ts'
import { ThemeProvider } from '../../../web/shared/theme-provider.tsx'
import { logoPath, PRODUCT } from '../../domain/branding.ts'
import { CARD_HEIGHT, CARD_WIDTH } from '../../domain/card.ts'
import type { PageContext } from './context.ts'

interface LayoutProps {
  readonly context: PageContext
  readonly title: string
  readonly head?: ReactNode
  readonly scripted?: { readonly page: ScriptedPage; readonly data?: object }
  /** Whether signed-out readers need the common script: for updates or a form. */
  readonly isMoving?: boolean
  readonly children: ReactNode
}

export function Layout({ context, title, head, scripted, isMoving = false, children }: LayoutProps) {
  const { assets, branding, language, notice, texts } = context
  const { accent, logo } = branding
  const isOwn = branding.name !== PRODUCT || accent !== null || logo !== null
  const own = scripted === undefined ? null : assets.pages[scripted.page]
  return (
    <html
      data-account={context.account ?? undefined}
      data-public-url={context.publicUrl ?? undefined}
      lang={language}
    >
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name={SITE_NAME} content={branding.name} />
        <title>{title === branding.name ? title : `${title} · ${branding.name}`}</title>
        {head}
        <link as="font" crossOrigin="" href={assets.typeface} rel="preload" type="font/woff2" />
        <link href={assets.style} rel="stylesheet" />
        {own === null ? null : <link href={own.style} rel="stylesheet" />}
        {accent === null ? null : <link href={`/branding/accent-${accent.slice(1)}.css`} rel="stylesheet" />}
        {logo === null ? (
          <>
            <link href={assets.files['favicon.svg']} rel="icon" type="image/svg+xml" />
            <link href={assets.files['apple-touch-icon.png']} rel="apple-touch-icon" />
          </>
        ) : (
          <link href={logoPath(logo)} rel="icon" type="image/webp" />
        )}
        <link href={isOwn ? '/site.webmanifest' : assets.files['site.webmanifest']} rel="manifest" />
        {own?.preloads.map((module) => (
          <link href={module} key={module} rel="modulepreload" />
        ))}
        {own === null ? null : <script src={own.script} type="module" />}
        {context.username === null && !isMoving ? null : <script src={assets.script} type="module" />}
      </head>
      <body>
        <ThemeProvider>
          <header className="top">
            <a className="brand" href="/">
              {logo === null ? (
                <Mark size={26} />
              ) : (
                <img
                  alt=""
                  height={32}
                  src={logoPath(logo)}
                  width={Math.round((32 * logo.width) / logo.height)}
                />
              )}
              <span className="brand-name">{branding.name}</span>
            </a>
            <Who context={context} />
          </header>
          <aside
            aria-label={texts.common.notice}
            className={`site-notice ${notice?.level ?? 'info'}`}
            hidden={notice === null}
          >
            {notice?.text}
          </aside>
          {children}
          <LegalLinks context={context} />
        </ThemeProvider>
        {scripted?.data === undefined ? null : <PageData data={scripted.data} />}
      </body>
    </html>
  )
}

function LegalLinks({ context }: { context: PageContext }) {
  const { branding, texts } = context
  if (branding.legal.length === 0) return null
  return (
    <footer className="legal small">
      {branding.legal.map((page) => (
        <a href={`/legal/${page}`} key={page}>
          {texts.legal[page]}
        </a>
      ))}
    </footer>
  )
}

export function LinkPreview(props: {
  /** As the operator calls it. */
  siteName: string
  title: string
  description: string
  url: string
  /** JPEG of the size of cards. */
  image: string
  /** Address of an oEmbed answer. */
  oembed?: string | null
  /** For embedding: a permanent address and the type. */
  media?: { readonly kind: 'video' | 'audio'; readonly url: string; readonly type: string } | null
}) {
  const { image, media } = props
  return (
    <>
      <meta name="description" content={props.description} />
      <meta property="og:site_name" content={props.siteName} />
      <meta property="og:type" content={media?.kind === 'video' ? 'video.other' : 'website'} />
      <meta property="og:title" content={props.title} />
      <meta property="og:description" content={props.description} />
      <meta property="og:url" content={props.url} />
      <meta property="og:image" content={image} />
      <meta property="og:image:type" content="image/jpeg" />
      <meta property="og:image:width" content={String(CARD_WIDTH)} />
      <meta property="og:image:height" content={String(CARD_HEIGHT)} />
      {media == null ? null : (
        <>
          <meta property={`og:${media.kind}`} content={media.url} />
          <meta property={`og:${media.kind}:type`} content={media.type} />
        </>
      )}
      <meta name="twitter:title" content={props.title} />
      <meta name="twitter:description" content={props.description} />
      <meta name="twitter:image" content={image} />
      <meta name="twitter:card" content="summary_large_image" />
      {props.oembed == null ? null : (
        <link href={props.oembed} rel="alternate" title={props.title} type="application/json+oembed" />
      )}
    </>
  )
}

export function NoIndex() {
  return <meta name="robots" content="noindex" />
}

/** Markup in it cannot end the element: every `<` is escaped as in JSON. */
function PageData({ data }: { data: object }) {
  const json = JSON.stringify(data).replaceAll('<', '\\u003c')
  // React would escape text with entities, which scripts do not decode.
  return <script dangerouslySetInnerHTML={{ __html: json }} id={PAGE_DATA} type="application/json" />
}

const SIGN_OUT = 'sign-out'

/** Empty while the session is unknown. */
function Who({ context }: { context: PageContext }) {
  const { account, admin, files, settings } = context.texts
  const { username } = context
  if (context.isUnsure) return null
  if (username === null) {
    return (
      <a className="who" href="/sign-in" rel="nofollow">
        {account.forms.signIn.title}
      </a>
    )
  }
  return (
    <div className="who-menu">
      <button className="who" id={ACCOUNT_BUTTON} popoverTarget={ACCOUNT_MENU} type="button">
        <span className="who-name">{username}</span>
        <Drawing of="chevron" size={16} />
      </button>
      <div className="menu" id={ACCOUNT_MENU} popover="auto">
        <a className="menu-item" href="/files">
          {files.app.top}
        </a>
        <a className="menu-item" href="/settings">
          {settings.title}
        </a>
        {context.isAdmin ? (
          <a className="menu-item" href="/admin">
            {admin.title}
          </a>
        ) : null}
        <button className="menu-item menu-item-apart" form={SIGN_OUT} type="submit">
          {account.signOut}
        </button>
      </div>
      <form action="/sign-out" hidden id={SIGN_OUT} method="post" />
    </div>
  )
}
