use super::*;

/// Checks that each text is redacted to the expected one.
#[track_caller]
fn check(cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (text, expected) in cases {
        let text = undotted(text);
        let redacted = redact(&text);
        if redacted.text != *expected {
            wrong += &format!("  in    {text}\n  got   {}\n  not   {expected}\n\n", redacted.text);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn b_03_cloud_keys() {
    check(&[
        ("id AK·IAIOSFODNN7EXAMPLE.", "id [redacted:aws-access-key]."),
        ("AS·IAY34FZKBOKMUTVV7A, ok", "[redacted:aws-access-key], ok"),
        (
            "aws_secret_access_key = wJal·rXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "aws_secret_access_key = [redacted:aws-secret-key]",
        ),
        (
            "AWS_SECRET_ACCESS_KEY=wJal·rXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\nnext",
            "AWS_SECRET_ACCESS_KEY=[redacted:aws-secret-key]\nnext",
        ),
        (
            "\"SecretAccessKey\": \"wJal·rXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\",",
            "\"SecretAccessKey\": \"[redacted:aws-secret-key]\",",
        ),
        (
            "bob,AK·IAIOSFODNN7EXAMPLE,wJal·rXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "bob,[redacted:aws-access-key],[redacted:aws-secret-key]",
        ),
        ("key=AI·zaSyD9x8_Kq2-LmNvBcXzAsDfGhJkLpQwErTy", "key=[redacted:google-key]"),
        ("ya·29.a0AfH6SMBx9kQ-_8ZyXwVuTsRqPoNmLk.", "[redacted:google-token]."),
        ("client GO·CSPX-a8Kd92jLsPq0Zx7Vn3Mb5Tc1Yw4e", "client [redacted:google-token]"),
        (
            "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=kW8x2Lq9Zb7·Nv4Md1Rt6Yh3Jf5Gs0Ae+Pu/Xc==;EndpointSuffix=core",
            "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=[redacted:azure-key];EndpointSuffix=core",
        ),
        (
            "https://acme.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig=kW8x2Lq9Zb7Nv4Md1%2BRt6Yh3Jf5%2FGs0Ae%3D&se=x",
            "https://acme.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig=[redacted:azure-key]&se=x",
        ),
        ("secret abc8·Q~x9Kd2LsPq0Zx7Vn3Mb5Tc1Yw4eRt6Uo8Ia ok", "secret [redacted:azure-key] ok"),
        ("AZURE_CLIENT_SECRET=aBc1-dEf2_gHi3", "AZURE_CLIENT_SECRET=[redacted:azure-key]"),
    ]);
}

#[test]
fn b_03_vendor_tokens() {
    const TAIL: &str = "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2KzW4x";
    for (prefix, kind) in [
        ("ghp_", "github-token"),
        ("gho_", "github-token"),
        ("ghu_", "github-token"),
        ("ghs_", "github-token"),
        ("ghr_", "github-token"),
        ("github_pat_11ABCDEFG0_", "github-token"),
        ("glpat-", "gitlab-token"),
        ("glrt-", "gitlab-token"),
        ("gldt-", "gitlab-token"),
        ("glcbt-", "gitlab-token"),
        ("xoxb-123456789012-", "slack-token"),
        ("xoxp-", "slack-token"),
        ("xoxa-2-", "slack-token"),
        ("xoxs-", "slack-token"),
        ("xapp-1-A0123-", "slack-token"),
        ("sk_live_", "stripe-key"),
        ("sk_test_", "stripe-key"),
        ("rk_live_", "stripe-key"),
        ("whsec_", "stripe-key"),
        ("sk-", "openai-key"),
        ("sk-proj-", "openai-key"),
        ("sk-svcacct-", "openai-key"),
        ("sk-ant-api03-", "anthropic-key"),
        ("sk-ant-", "anthropic-key"),
        ("npm_", "npm-token"),
        ("pypi-AgEIcHlwaS5vcmc", "pypi-token"),
        ("hf_", "hugging-face-token"),
        ("gsk_", "vendor-token"),
        ("lin_api_", "vendor-token"),
        ("dckr_pat_", "vendor-token"),
        ("hvs.", "vendor-token"),
    ] {
        for (before, after) in [
            ("", ""),
            ("token ", "."),
            ("\"", "\","),
            ("(", ")"),
            ("密钥", "。"),
            ("x\\n", "\\n"),
            ("t=", "&b"),
        ] {
            let redacted = redact(&format!("{before}{prefix}{TAIL}{after}")).text.into_owned();
            assert_eq!(redacted, format!("{before}[redacted:{kind}]{after}"));
        }
    }
    let hex = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    for (token, kind) in [
        (format!("SK{hex}"), "twilio-key"),
        (format!("dop_v1_{hex}{hex}"), "digitalocean-token"),
        (format!("shpat_{hex}"), "vendor-token"),
        (format!("key-{hex}"), "vendor-token"),
        (format!("123456789:AA{}", &TAIL[..33]), "telegram-token"),
        (format!("SG.{}.{TAIL}", &TAIL[..22]), "sendgrid-key"),
        (format!("MTIzNDU2Nzg5MDEyMzQ1Njc4.GhIjKl.{}", &TAIL[..38]), "discord-token"),
        (format!("pat{}.{hex}{hex}", &TAIL[..14]), "vendor-token"),
    ] {
        assert_eq!(redact(&format!("a {token} b")).text, format!("a [redacted:{kind}] b"));
    }
    check(&[
        (
            "https://api.telegram.org/bot123456789:A·AHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/getMe",
            "https://api.telegram.org/bot[redacted:telegram-token]/getMe",
        ),
        (
            "https://hooks.slack.com/services/T0·1ABCDEF/B02GHIJKL/a8Kd92jLsPq0Zx7Vn3Mb5Tc1",
            "https://hooks.slack.com/services/[redacted:webhook-url]",
        ),
        (
            "//registry.npmjs.org/:_authToken=np·m_q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K",
            "//registry.npmjs.org/:_authToken=[redacted:npm-token]",
        ),
    ]);
}

#[test]
fn b_03_vendor_tokens_with_padding_inside() {
    let part = "q8Zk2Lw9Xc4Vb7Nm1Pd6";
    for token in [
        format!("duffel_live_{part}={part}-"),
        format!("fio-u-{part}=={part}_{part}"),
        format!("pscale_pw_{part}.={part}"),
        format!("a1B2c3D4e5F6g7.atlasv1.{part}={part}-{part}"),
        format!("sc_{part}.k1.acc_{part}.{part}+/={part}"),
    ] {
        assert_eq!(redact(&format!("a {token} b")).text, "a [redacted:vendor-token] b");
    }
    let name = format!("sc_{part}_{part}_{part}");
    assert_eq!(redact(&name).text, name);
}

#[test]
fn b_03_jwts() {
    let header = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
    let payload = "eyJzdWIiOiIxMjM0NTY3ODkwIn0";
    let signature = "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
    for (jwt, rest) in [
        (format!("{header}.{payload}.{signature}"), ""),
        (format!("{header}.{payload}."), "."),
        (format!("{header}.{payload}"), ""),
        (format!("eyAiYWxnIjogIkhTMjU2IiB9.eyAic3ViIjogIjEiIH0.{signature}"), ""),
        (format!("{header}.{signature}.{signature}.{signature}.{signature}"), ""),
    ] {
        assert_eq!(redact(&format!("id={jwt}")).text, format!("id=[redacted:jwt]{rest}"));
    }
}

#[test]
fn b_03_private_keys() {
    let line = "MIIEpAIBAAKCAQEA7bq9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2KzW4xq8Zk2Lw9Xc4V";
    for label in [
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "DSA PRIVATE KEY",
        "PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
        for block in [
            format!("{begin}\n{line}\n{line}\nab==\n{end}"),
            format!("{begin}\r\n{line}\r\n{end}"),
            format!("{begin}\\n{line}\\n{line}\\nab==\\n{end}"),
            format!("{begin}\\\\n{line}\\\\n{end}"),
            format!("{begin} {line} {line} {end}"),
            format!("{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n{line}\n{end}"),
            format!("{begin}\nVersion: GnuPG v2\nComment: my own key\n\n{line}\n=aB3d\n{end}"),
            format!("{begin}\n    {line}\n    {line}\n    {end}"),
            format!("{begin}\nMIIEpAIB\nAAKC\nAQEA\n{end}"),
        ] {
            assert_eq!(
                redact(&format!("key:\n{block}\nend")).text,
                "key:\n[redacted:private-key]\nend",
                "{block}"
            );
        }
        let cut = format!("{begin}\n{line}\n{line}\nab==\n\nThat was the key, see above.");
        assert_eq!(redact(&cut).text, "[redacted:private-key]\n\nThat was the key, see above.");
    }
    check(&[(
        "{\"private_key_id\": \"ab12\", \"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0B\\n-----END PRIVATE KEY-----\\n\"}",
        "{\"private_key_id\": \"ab12\", \"private_key\": \"[redacted:private-key]\"}",
    )]);
}

#[test]
fn b_03_passwords_in_urls() {
    check(&[
        ("postgres://bob:hunter2@db:5432/app", "postgres://bob:[redacted:url-password]@db:5432/app"),
        ("redis://:s3cr3t@localhost:6379", "redis://:[redacted:url-password]@localhost:6379"),
        (
            "see https://user:pass@example.com/x?y=1.",
            "see https://user:[redacted:url-password]@example.com/x?y=1.",
        ),
        ("mongodb+srv://a:b%40c@host/", "mongodb+srv://a:[redacted:url-password]@host/"),
        ("amqp://u:p/w#d?@host/vhost", "amqp://u:[redacted:url-password]@host/vhost"),
        ("mysql://root:p@ss@host/db", "mysql://root:[redacted:url-password]@host/db"),
        ("`ftp://bob:swordfish@host`", "`ftp://bob:[redacted:url-password]@host`"),
        (
            "git clone https://0f1e2d3c4b5a69788796a5b4c3d2e1f001234567@github.com/a/b.git",
            "git clone https://[redacted:url-password]@github.com/a/b.git",
        ),
        ("DATABASE_URL=postgres://u:pw1@h/d", "DATABASE_URL=postgres://u:[redacted:url-password]@h/d"),
    ]);
}

#[test]
fn b_03_headers() {
    check(&[
        ("Authorization: Bearer abc123def456", "Authorization: Bearer [redacted:authorization]"),
        ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [redacted:authorization]"),
        ("Authorization: token 0123456789abcdef", "Authorization: token [redacted:authorization]"),
        (
            "curl -H \"Authorization: Bearer a8Kd92jLsPq0\" https://x",
            "curl -H \"Authorization: Bearer [redacted:authorization]\" https://x",
        ),
        (
            "{\"Authorization\": \"Bearer a8Kd92jLsPq0\"}",
            "{\"Authorization\": \"Bearer [redacted:authorization]\"}",
        ),
        (
            "{\\\"Authorization\\\":\\\"Bearer a8Kd92jLsPq0\\\"}",
            "{\\\"Authorization\\\":\\\"Bearer [redacted:authorization]\\\"}",
        ),
        (
            "headers['Authorization'] = 'Bearer a8Kd92jL';",
            "headers['Authorization'] = 'Bearer [redacted:authorization]';",
        ),
        (
            ".header(\"Authorization\", \"Bearer a8Kd92jL\")",
            ".header(\"Authorization\", \"Bearer [redacted:authorization]\")",
        ),
        ("Authorization: a8Kd92jLsPq0", "Authorization: [redacted:authorization]"),
        ("sent Bearer a8Kd92jLsPq0Zx7Vn3Mb to it", "sent Bearer [redacted:authorization] to it"),
        ("x-api-key: a8Kd92jLsPq0", "x-api-key: [redacted:secret]"),
        ("curl -H 'X-Api-Key: a8Kd92jLsPq0' x", "curl -H 'X-Api-Key: [redacted:secret]' x"),
        ("PRIVATE-TOKEN: a8Kd92jLsPq0", "PRIVATE-TOKEN: [redacted:secret]"),
        (
            "Cookie: theme=dark; session=a8Kd92jLsPq0; lang=en",
            "Cookie: theme=dark; session=[redacted:cookie]; lang=en",
        ),
        (
            "Set-Cookie: sid=s%3Aa8Kd92jLs; Path=/; HttpOnly; Max-Age=3600",
            "Set-Cookie: sid=[redacted:cookie]; Path=/; HttpOnly; Max-Age=3600",
        ),
        ("\"cookie\": \"_x=a8Kd92jLsPq0Zx7Vn3Mb\"", "\"cookie\": \"_x=[redacted:cookie]\""),
    ]);
}

#[test]
fn b_03_assignments() {
    check(&[
        ("FOO_SECRET=swordfish", "FOO_SECRET=[redacted:secret]"),
        ("export API_KEY=\"a8Kd92jL\"", "export API_KEY=\"[redacted:secret]\""),
        ("  DB_PASSWORD='p w'", "  DB_PASSWORD='[redacted:password]'"),
        ("DB_PASSWORD=p&ss,w;rd!'x # comment", "DB_PASSWORD=[redacted:password] # comment"),
        ("PGPASSWORD=swordfish psql -h db", "PGPASSWORD=[redacted:password] psql -h db"),
        ("$env:API_TOKEN=\"a8Kd92jL\"", "$env:API_TOKEN=\"[redacted:secret]\""),
        (
            "docker run -e MYSQL_ROOT_PASSWORD=swordfish mysql",
            "docker run -e MYSQL_ROOT_PASSWORD=[redacted:password] mysql",
        ),
        ("db:\n  user: bob\n  password: swordfish\n", "db:\n  user: bob\n  password: [redacted:password]\n"),
        ("password: hunter2", "password: [redacted:password]"),
        ("password: @dmin123", "password: [redacted:password]"),
        ("password: !Passw0rd", "password: [redacted:password]"),
        ("password = '$ecret123'", "password = '[redacted:password]'"),
        ("password: 123456", "password: [redacted:password]"),
        ("  - password: \"swordfish\"", "  - password: \"[redacted:password]\""),
        (
            "{\"client_secret\": \"a8Kd92jL\", \"x\": 1}",
            "{\"client_secret\": \"[redacted:secret]\", \"x\": 1}",
        ),
        (
            "{\\\"password\\\":\\\"swordfish\\\",\\\"x\\\":1}",
            "{\\\"password\\\":\\\"[redacted:password]\\\",\\\"x\\\":1}",
        ),
        ("password = \"swordfish\"", "password = \"[redacted:password]\""),
        ("api_key = \"abcdefgh\"", "api_key = \"[redacted:secret]\""),
        ("const API_KEY: &str = \"a8Kd92jL\";", "const API_KEY: &str = \"[redacted:secret]\";"),
        (
            "let password: &'static str = \"swordfish\";",
            "let password: &'static str = \"[redacted:password]\";",
        ),
        ("password: str = \"swordfish\"", "password: str = \"[redacted:password]\""),
        ("var apiKey string = \"a8Kd92jL\"", "var apiKey string = \"[redacted:secret]\""),
        ("apiKey := \"a8Kd92jL\"", "apiKey := \"[redacted:secret]\""),
        (
            "let password = String::from(\"swordfish\");",
            "let password = String::from(\"[redacted:password]\");",
        ),
        ("'password' => 'swordfish',", "'password' => '[redacted:password]',"),
        ("config[\"password\"] = \"swordfish\"", "config[\"password\"] = \"[redacted:password]\""),
        ("if password == \"swordfish\" {", "if password == \"[redacted:password]\" {"),
        ("$password = 'swordfish';", "$password = '[redacted:password]';"),
        ("token: 'a8Kd92jL',", "token: '[redacted:secret]',"),
        ("<password>swordfish</password>", "<password>[redacted:password]</password>"),
        ("Server=db;User Id=sa;Password=swordfish;", "Server=db;User Id=sa;Password=[redacted:password];"),
        ("host=db password=swordfish dbname=x", "host=db password=[redacted:password] dbname=x"),
        ("https://x.io/cb?access_token=a8Kd92jL&x=1", "https://x.io/cb?access_token=[redacted:secret]&x=1"),
        ("OPENAI_KEY=0f1e2d3c4b5a69788796a5b4c3d2e1f0", "OPENAI_KEY=[redacted:secret]"),
        ("text\\nDB_PASSWORD=swordfish\\nnext", "text\\nDB_PASSWORD=[redacted:password]\\nnext"),
        ("user=admin pass=hunter2", "user=admin pass=[redacted:password]"),
        ("if password != 'swordfish':", "if password != '[redacted:password]':"),
        ("getEnv(\"api_token\", \"a8Kd92jLsPq0\")", "getEnv(\"api_token\", \"[redacted:secret]\")"),
        ("builder.password(\"hunter2\")", "builder.password(\"[redacted:password]\")"),
        ("client.setApiKey('a8Kd92jL');", "client.setApiKey('[redacted:secret]');"),
        ("- name: DB_PASSWORD\n  value: swordfish\n", "- name: DB_PASSWORD\n  value: [redacted:password]\n"),
        (
            "{\"name\":\"API_KEY\",\"value\":\"swordfish\"}",
            "{\"name\":\"API_KEY\",\"value\":\"[redacted:secret]\"}",
        ),
        (
            "<add key=\"ClearTextPassword\" value=\"swordfish\" />",
            "<add key=\"ClearTextPassword\" value=\"[redacted:password]\" />",
        ),
        ("**Password:** hunter2", "**Password:** [redacted:password]"),
        ("\"passphrase\": \"correct horse battery staple\"", "\"passphrase\": \"[redacted:password]\""),
        ("APP_KEY=base64:a8Kd92jLsPq0Zx7Vn3Mb5Tc1Yw4e=", "APP_KEY=[redacted:secret]"),
        ("+DB_PASSWORD=swordfish", "+DB_PASSWORD=[redacted:password]"),
    ]);
}

#[test]
fn b_03_command_lines() {
    check(&[
        ("tool --password hunter2 --host x", "tool --password [redacted:password] --host x"),
        ("tool --password swordfish", "tool --password [redacted:password]"),
        ("tool --password=swordfish x", "tool --password=[redacted:password] x"),
        ("tool --password 'my pass 1x!' x", "tool --password '[redacted:password]' x"),
        ("tool --api-key a8Kd92jL x", "tool --api-key [redacted:secret] x"),
        ("tool -token a8Kd92jL", "tool -token [redacted:secret]"),
        ("mysql -uroot -pswordfish db", "mysql -uroot -p[redacted:password] db"),
        ("\"command\": \"mysqldump -pswordfish db\"", "\"command\": \"mysqldump -p[redacted:password] db\""),
        ("sshpass -p swordfish ssh x", "sshpass -p [redacted:password] ssh x"),
        ("docker login -u bob -p swordfish", "docker login -u bob -p [redacted:password]"),
        ("curl -u bob:swordfish https://x", "curl -u bob:[redacted:password] https://x"),
        (
            "curl -s --user \"bob:swordfish\" https://x",
            "curl -s --user \"bob:[redacted:password]\" https://x",
        ),
        ("curl -u q8Zk2Lw9·Xc4Vb7Nm1Pd6Rt3Yh5Jf: https://x", "curl -u [redacted:secret]: https://x"),
        ("curl -u bob: https://x", "curl -u bob: https://x"),
        ("curl -b \"session=a8Kd92jL\" https://x", "curl -b \"session=[redacted:cookie]\" https://x"),
        ("redis-cli -h x -a swordfish ping", "redis-cli -h x -a [redacted:password] ping"),
        ("openssl rsa -passin pass:swordfish", "openssl rsa -passin pass:[redacted:password]"),
    ]);
}

#[test]
fn b_03_passwords_named_in_a_sentence() {
    check(&[
        ("The password is hunter2.", "The password is [redacted:password]."),
        (
            "the password for the staging db is hunter2, ok?",
            "the password for the staging db is [redacted:password], ok?",
        ),
        ("the password is `swordfish`", "the password is `[redacted:password]`"),
        ("the password is \"swordfish\".", "the password is \"[redacted:password]\"."),
        ("The password is now: Tr0ub4dor&3!", "The password is now: [redacted:password]"),
        ("my passphrase: correct horse battery staple", "my passphrase: [redacted:password]"),
        ("my passphrase is correct-horse-battery-staple.", "my passphrase is [redacted:password]."),
        ("set the password to hunter2", "set the password to [redacted:password]"),
        ("user bob, password hunter2", "user bob, password [redacted:password]"),
        ("The password is 48151623.", "The password is [redacted:password]."),
        ("use hunter2 as the password", "use [redacted:password] as the password"),
        ("hunter2 is the password for prod", "[redacted:password] is the password for prod"),
        ("I changed the root password to hunter2.", "I changed the root password to [redacted:password]."),
        ("app password: qzkx mvbn trwp lkjh", "app password: [redacted:password]"),
        (
            "the token for the staging api is 0f1e2d3c4b5a6978",
            "the token for the staging api is [redacted:secret]",
        ),
        ("my pw is hunter2", "my pw is [redacted:password]"),
        (
            "La contraseña de la base de datos es Abc12345",
            "La contraseña de la base de datos es [redacted:password]",
        ),
        ("the password's hunter2", "the password's [redacted:password]"),
        ("the password is:\nhunter2", "the password is:\n[redacted:password]"),
        ("| password | hunter2 |", "| password | [redacted:password] |"),
        ("ALTER USER bob WITH PASSWORD 'swordfish';", "ALTER USER bob WITH PASSWORD '[redacted:password]';"),
        (
            "CREATE USER bob IDENTIFIED BY 'swordfish';",
            "CREATE USER bob IDENTIFIED BY '[redacted:password]';",
        ),
        ("the api key is a8Kd92jLsPq0", "the api key is [redacted:secret]"),
        ("Our API token: `a8Kd92jL`", "Our API token: `[redacted:secret]`"),
        ("das Passwort lautet hunter2", "das Passwort lautet [redacted:password]"),
        (
            "Das Kennwort für den Server ist „Sommer2024“.",
            "Das Kennwort für den Server ist „[redacted:password]“.",
        ),
        ("Passwort: geheim123", "Passwort: [redacted:password]"),
        ("la contraseña es hunter2", "la contraseña es [redacted:password]"),
        ("la contraseña del servidor es: «tortuga9»", "la contraseña del servidor es: «[redacted:password]»"),
        ("le mot de passe est hunter2", "le mot de passe est [redacted:password]"),
        ("mon mot de passe : azerty123", "mon mot de passe : [redacted:password]"),
        ("a senha é hunter2", "a senha é [redacted:password]"),
        ("A SENHA do banco é abc#123", "A SENHA do banco é [redacted:password]"),
        ("пароль: hunter2", "пароль: [redacted:password]"),
        ("Пароль от базы — qwerty123", "Пароль от базы — [redacted:password]"),
        ("пароль это секрет77", "пароль это [redacted:password]"),
        ("パスワードはhunter2です", "パスワードは[redacted:password]です"),
        ("パスワードは「ひみつabc1」です。", "パスワードは「[redacted:password]」です。"),
        ("パスワード：hunter2", "パスワード：[redacted:password]"),
        ("密码是hunter2。", "密码是[redacted:password]。"),
        ("数据库的密码：abc12345", "数据库的密码：[redacted:password]"),
        ("密碼為 hunter2", "密碼為 [redacted:password]"),
        ("我的password是hunter2", "我的password是[redacted:password]"),
    ]);
}

#[test]
fn b_03_npm_keeps_its_password_encoded() {
    check(&[(
        "//registry.npmjs.org/:_password=cGFwZXJjcmFuZTU=",
        "//registry.npmjs.org/:_password=[redacted:password]",
    )]);
}
