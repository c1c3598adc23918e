use super::*;

#[track_caller]
fn stays(texts: &[&str]) {
    let mut wrong = String::new();
    for text in texts {
        let redacted = redact(text);
        if redacted.text != *text {
            wrong += &format!("  in    {text}\n  got   {}\n\n", redacted.text);
        }
        assert_eq!(matches!(redacted.text, Cow::Borrowed(_)), redacted.counts.is_empty());
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn b_03_hashes_and_ids_stay() {
    stays(&[
        "fixed in 82b1fc7",
        "moved the token parser to 82b1fc7e0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "the password reset handler is broken as of 82b1fc7",
        "commit 82b1fc7e0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "Revert \"x\"\n\nThis reverts commit 0f1e2d3c4b5a69788796a5b4c3d2e1f001234567.",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  file.tar.gz",
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "\"requestId\": \"550e8400-e29b-41d4-a716-446655440000\"",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "m-0123456789ab was saved",
        "etag: W/\"0815-a8Kd92jLsPq0Zx7V\"",
        "cache_key: 0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "primary_key = \"a8Kd92jLsPq0Zx7Vn3Mb\"",
        "key: 550e8400-e29b-41d4-a716-446655440000",
    ]);
}

#[test]
fn b_03_lock_files_stay() {
    stays(&[
        "  integrity sha512-9XQ5yK8mN3bV7cZ1pL4tR6wE2qS0dF+gH/jJkUoIaYxCvBnMlPzQwErTyUiOpAsDfGhJkLzXcVbNm1234567890AB==",
        "\"integrity\": \"sha512-9XQ5yK8mN3bV7cZ1pL4tR6wE2qS0dF+gH/jJkUoIaYxCvBnMlPzQwErTyUiOpAsDfGhJkLzXcVbNm==\"",
        "checksum = \"0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0\"",
        "golang.org/x/text v0.3.0 h1:g61tztE5qeGQ89tm6NTjjM9VPIm088od1l6aSorWRWg=",
        "golang.org/x/text v0.3.0/go.mod h1:NqM8EUOU14njkJ3fqMW+pc6Ldnwhi/IjpwHt7yyuwOQ=",
        "resolved \"https://registry.yarnpkg.com/js-tokens/-/js-tokens-4.0.0.tgz#19203fb59991df98e3a287050d4647cdeaf32499\"",
        "\"js-tokens\": \"^3.0.0 || ^4.0.0\",",
    ]);
}

#[test]
fn b_03_images_and_links_stay() {
    stays(&[
        "![logo](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==)",
        "background: url(data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=);",
        "![diagram](https://example.com/assets/a8Kd92jLsPq0Zx7V.png \"a title\")",
        "[docs](https://docs.example.com/tokens#password)",
        "git@github.com:org/repo.git",
        "ssh://git@github.com/org/repo.git",
        "http://localhost:6379/0",
        "https://example.com:8080/@scope/pkg",
        "https://medium.com/@someone/post-1a2b3c",
        "http://[::1]:8080/@x",
        "npm i @types/node@20.1.0",
        "mailto:bob@example.com",
        "https://x.io/search?q=token&page=2",
    ]);
}

#[test]
fn b_03_code_that_mentions_secrets_stays() {
    stays(&[
        "let token = parse_token(input);",
        "password: String,",
        "password: &[u8], key: &'a [u8; 32]",
        "$password = $password1;",
        "password: !secret db_password",
        "password: *default_password",
        "    password: String",
        "pub password: Option<String>,",
        "password: str",
        "password: SecretStr",
        "fn login(user: &str, password: &str) -> Result<Token>",
        "password: String!",
        "password?: string;",
        "API_KEY=${API_KEY}",
        "API_KEY=$API_KEY",
        "export TOKEN=$(cat token.txt)",
        "DB_PASSWORD=/run/secrets/db_password",
        "const key = process.env.API_KEY;",
        "apiKey: process.env.API_KEY,",
        "token = os.environ[\"TOKEN\"]",
        "password = os.getenv(\"DB_PASSWORD\")",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "GITHUB_TOKEN: secrets.GITHUB_TOKEN",
        "api_key = \"<your-api-key>\"",
        "API_KEY=<your-api-key>",
        "api_key = \"YOUR_API_KEY\"",
        "OPENAI_API_KEY=sk-...",
        "OPENAI_API_KEY=sk-your-key-here",
        "ANTHROPIC_API_KEY=sk-ant-api03-xxxxxxxxxxxxxxxx",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "password: xxxxxxxx",
        "password: \"********\"",
        "password=changeme",
        "password = None",
        "password = null;",
        "password: true",
        "self.password = password",
        "{ username: user, password: pass }",
        "login(user, password=pwd)",
        "connect(host=host, password=secret_value)",
        "token_count: 40000",
        "max_tokens=4096",
        "tokenizer: bert",
        "\"max_tokens\": 4096, \"tokens\": 12345678",
        "eos_token = \"<|endoftext|>\"",
        "nextPageToken: \"CAUQAA12\"",
        "string password = 3;",
        "password VARCHAR(255) NOT NULL",
        "password_hash = bcrypt.hash(password)",
        "secretName: my-db-secret",
        "secret: my-k8s-secret",
        "type=\"password\" name=\"password\" id=\"password\"",
        "if token == Token::Ident {",
        "headers = {\"Authorization\": f\"Bearer {token}\"}",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "Authorization: Bearer YOUR_TOKEN",
        "headers['Authorization'] = 'Bearer ' + token",
        "Cookie: theme=dark; lang=en",
        "#[serde(rename = \"password\")]",
        "assert!(token.is_some());",
        "keys: Vec<u8>, token: u64",
        "private_key: /etc/ssl/key.pem",
        "postgres://${USER}:${PASS}@host/db",
        "postgres://<user>:<password>@host",
        "https://user:***@host/",
        "https://$USER:$TOKEN@host/",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
        "starts with `-----BEGIN RSA PRIVATE KEY-----` and ends with `-----END RSA PRIVATE KEY-----`",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "<div class=\"sk-fading-circle sk-circle12\">",
        "npm_config_registry npm_package_version hf_hub_download",
        "mysql -u root -p",
        "docker run -p 8080:80 nginx",
        "curl -u $USER:$PASS https://x",
        "tool --password-file pw.txt --token-limit 4096",
        "PASS: test_foo2 (0.01s)",
        "'password' => 'required|min:8',",
        "password = password1",
        "curl -b cookies.txt https://x",
        "validates :password, length: { minimum: 8 }",
        "let token = get_token(\"github1234\");",
        "withToken(\"identifier\"), password(\"Enter your password\")",
        "fields: [\"password\", \"email\"]",
        "- name: LOG_LEVEL\n  value: debug7x",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n      key: password",
        "winnow::token::take_till(0.., 4u8)",
        "pub const ERROR_INVALID_PASSWORD: WIN32_ERROR = 86u32;",
        "pub const STATUS_NO_TOKEN: NTSTATUS = 0xC000007C_u32 as _;",
        "Token: \"#d8dee9\",",
        "key = r\"SOFTWARE\\Microsoft\\Windows 10\\v10.0\"",
        "\"hashed_secret\": \"513e0a36963ae1e8431c041b744679ee578b7c44\"",
        "\"progressToken\": \"1529a39e-f0fd-4631-855d-ca32db362f56\"",
        "render_pass: first_pass2",
    ]);
}

#[test]
fn b_03_prose_about_secrets_stays() {
    stays(&[
        "The password is stored in the vault.",
        "the password is required",
        "the token is expired",
        "The token is valid until 2026-03-01T10:00:00Z.",
        "Password: required",
        "the password to server2 is in the vault",
        "ask Alice for the password to db01",
        "The password for staging is in 1Password under \"Staging DB\"",
        "unexpected token 'x1y2' at line 3",
        "the password must have 12 characters",
        "the password is 8-20 characters long",
        "the password is hashed with SHA256 and a salt",
        "the password is SHA-256 hashed",
        "the password is base64-encoded, the token is a JWT",
        "passwords are hashed with argon2id",
        "the password is `null`",
        "the password is in `config/secrets.yml`",
        "the password is called `db_password`",
        "pass --password to set the password",
        "the `--password` option is deprecated",
        "rename the token to `access_token`",
        "token-based auth uses Bearer tokens",
        "the secret is to keep it simple",
        "the API key is in 1Password",
        "The api key is read from OPENAI_API_KEY",
        "das Passwort ist abgelaufen",
        "Das Passwort ist 8-stellig und steht im Tresor.",
        "la contraseña es obligatoria",
        "la clave es la simplicidad",
        "le mot de passe est obligatoire",
        "le mot de passe est d'au moins 8 caractères",
        "a senha é obrigatória",
        "пароль: минимум 8 символов",
        "пароль хранится в сейфе",
        "パスワードは必須です",
        "パスワードはSHA256でハッシュ化されます",
        "密码是必填项",
        "密码是用bcrypt加密的",
        "令牌是JWT格式的",
    ]);
}

#[test]
fn b_03_everyday_text_stays() {
    stays(&[
        "2026-02-14T17:05:50.648Z v1.2.3-beta.4 ^4.17.21 10.0.0.1:8080",
        ".btn:hover { color: #a1b2c3; margin: 0 -1px; }",
        "/usr/local/lib/python3.11/site-packages/foo_bar2/token.py:42",
        "~/.ssh/id_ed25519.pub C:\\Users\\bob\\AppData",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGq8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2KzW4 bob@host",
        "| key | value |\n|---|---|\n| timeout | 30s |",
        "def test_password_reset_v2(self): pass",
        "Refs: PROJ-1234, RFC 7519, CVE-2024-12345",
        "key: value, other-key: \"some words here\"",
        "Author: Bob <bob@example.com>\nDate: Mon Feb 16 10:00:00 2026 +0100",
        "🔴 Auth uses OAuth2 with PKCE; sessions last 12h.",
        "a=b c==d e:=f g=>h i->j k::l",
        "auth: none\nsession: default\nkey: main",
        "Bearer of bad news: basic training starts at 10:30",
        "AKIA is the prefix; ASIA too",
        "eyJ is how a JWT begins",
    ]);
}
