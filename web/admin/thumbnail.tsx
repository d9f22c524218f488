/** Beside a name that says the same; null: of what is gone. */
export function ReportThumbnail({ address }: { address: string | null }) {
  return address === null ? null : (
    <img alt="" className="row-picture" height="60" loading="lazy" src={address} width="60" />
  )
}
