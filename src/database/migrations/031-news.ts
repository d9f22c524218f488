/** What came by links is told by the same mails as all else that happened to them, and accounts say which downloads are. */
export const news = [
  `update link_events set mailed = 0 where kind = 'link.arrived' and exists (
    select 1 from contributions join files on files.uuid = contributions.file_uuid
    where files.id = link_events.file_id and contributions.told = 0
  )`,
  'drop index contributions_untold',
  'alter table contributions drop column told',
  'alter table mail_addresses drop column arrivals_told_at',
  "alter table mail_addresses add column download_mails text not null default 'first'",
  // Nobody can word them any more. They were never in a release.
  `delete from mails where letter like '{"kind":"files received"%' or letter like '{"kind":"link news"%'`,
]
