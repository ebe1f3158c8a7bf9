#!/bin/sh
# Makes the script that the Phoronix Test Suite runs, and downloads nothing. The program is $VKFORMER, else vkformer in
# PATH.
program=$(command -v "${VKFORMER:-vkformer}")
if [ -z "$program" ]; then
    echo "vkformer is not installed: put it into PATH, or its path into VKFORMER" >&2
    echo 1 >~/install-exit-status
    exit 1
fi
cat >vkformer <<END
#!/bin/sh
"$program" bench "\$@" --seconds 5 --quiet >"\$LOG_FILE" 2>&1
echo \$? >~/test-exit-status
END
chmod +x vkformer
echo 0 >~/install-exit-status
