from sci_rag_site.cli import main

main()
