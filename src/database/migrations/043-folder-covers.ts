/** Pictures that accounts set for their folders: small WebP in base64, since rows are text and numbers in every copy. */
export const folderCovers = {
  sqlite: sql('integer'),
  postgres: sql('bigint'),
}

function sql(id: string): string[] {
  return [
    'alter table folders add column cover text',
    `create table folder_covers (
      uuid text primary key,
      folder_id ${id} not null unique references folders (id) on delete cascade,
      picture text not null
    )`,
  ]
}
